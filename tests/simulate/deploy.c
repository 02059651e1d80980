/*
 * deploy.c: see deploy.h.
 */
#include "tests/simulate/deploy.h"

#include "proto/base/assert.h"
#include "proto/message.h"
#include "tests/simulate/machine.h"
#include "tests/simulate/model.h"

enum { DEPLOY_STEPS_MAX = 400 };

struct sim_deployment {
    struct proto_sink sink; /* first: answers come here */
    struct sim *sim;
    uint32_t answers;
    uint32_t asked_boot; /* number of the process that was asked for version 2; 0: none */
    bool has_next;
};

static enum result take_done(struct proto_sink *self, struct proto_message **message)
{
    struct sim_deployment *deployment = (struct sim_deployment *)self;
    const struct proto_done *done = &(*message)->as.done;
    struct sim *sim = deployment->sim;
    ASSERT((*message)->type == PROTO_DONE);
    if (!sim->started && done->result != RESULT_OK) {
        sim_fail(sim, "deploying: %.*s", SPAN_ARG(done->text));
    }
    if (!sim->started) {
        deployment->answers++;
    } else if (sim_machine_effect(sim)) {
        deployment->asked_boot = 0;
        deployment->has_next = done->result == RESULT_OK;
        sim_trace(sim, "version 2: %s", result_text(done->result));
    }
    message_free(*message);
    *message = NULL;
    return RESULT_OK;
}

static void ask_registry(struct sim_deployment *deployment, struct proto_message *message)
{
    struct proto_sink *registry = &deployment->sim->machine->actors[SIM_REGISTRY].sink;
    message->reply_to = (struct proto_address){.sink = &deployment->sink};
    enum result result = registry->send(registry, &message);
    ASSERT(result == RESULT_OK);
}

static void ask_file(struct sim_deployment *deployment, struct span file)
{
    struct proto_message *message =
        message_of_definition(&(struct proto_definition){.project = span_text(SIM_PROJECT),
                                                         .name = deployment->sim->model->file_name,
                                                         .content = file});
    ASSERT(message != NULL);
    ask_registry(deployment, message);
}

void sim_deploy_init(struct sim *sim)
{
    sim->deployment = arena_zero(&sim->arena, sizeof *sim->deployment);
    ASSERT(sim->deployment != NULL);
    sim->deployment->sink.send = take_done;
    sim->deployment->sim = sim;
}

void sim_deploy_first(struct sim *sim)
{
    struct sim_deployment *deployment = sim->deployment;
    struct proto_message *message =
        message_of_project(&(struct proto_project){.project = span_text(SIM_PROJECT),
                                                   .workspace = span_text("default"),
                                                   .modules = sim->model->modules});
    ASSERT(message != NULL);
    ask_registry(deployment, message);
    ask_file(deployment, sim->model->file);
    for (uint32_t i = 0; i < DEPLOY_STEPS_MAX && deployment->answers < 2 && !sim_failed(sim); i++) {
        (void)sim_machine_step(sim);
    }
    if (deployment->answers < 2) {
        sim_fail(sim, "the model is not deployed");
    }
}

bool sim_deploy_next(struct sim *sim)
{
    struct sim_deployment *deployment = sim->deployment;
    if (!deployment->has_next && sim->model->next.count > 0 && sim->machine->running &&
        deployment->asked_boot != sim->machine->boot) {
        deployment->asked_boot = sim->machine->boot;
        ask_file(deployment, sim->model->next);
    }
    return deployment->has_next;
}
