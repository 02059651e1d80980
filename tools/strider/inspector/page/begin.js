/*
 * begin.js: how executions begin, move on and go: start, import, migrate, delete.
 */
const Begin = (() => {
  "use strict";
  const IMPORT = `{
  "process": "PROCESS",
  "active": [{ "node": "NODE", "wait": true }],
  "passed": [],
  "request": {}
}`;

  const isNewest = (all) => (one) => all.every((other) => other.process !== one.process || other.projectId !== one.projectId || other.version <= one.version);
  const newest = (definitions) => definitions.filter((one) => one.executable).filter(isNewest(definitions));
  const label = (one) => `${one.name || one.process}${one.name && one.name !== one.process ? ` (${one.process})` : ""} · v${one.version}${one.projectId === "default" ? "" : ` · ${one.projectId}`}`;
  const goTo = (id) => { location.hash = `execution=${encodeURIComponent(id)}`; };
  const member = (name, value) => value === undefined || value === "" ? "" : `${JSON.stringify(name)}:${JSON.stringify(value)},`;

  /* `chosen`: one version; or else the newest of any process. */
  async function start(chosen) {
    const choices = chosen ? [chosen] : newest((await Api.call("v1/definitions")).definitions);
    if (choices.length === 0) return Ask.tell("Nothing can be started", "No process is deployed yet: serve a project, or deploy a BPMN file with “strider deploy”.");
    const reply = await Ask.form({
      title: chosen ? `Start ${chosen.name || chosen.process}?` : "Start an execution", action: "Start",
      text: chosen ? `Version ${chosen.version} of ${chosen.process} in project ${chosen.projectId}.` : null,
      fields: [
        ...(chosen ? [] : [{ key: "process", name: "Process", options: choices.map((one, index) => [String(index), label(one)]) }]),
        { key: "request", name: "Request (JSON)", json: true },
        { key: "id", name: "Execution id (optional)" }, { key: "session", name: "Channel session id (optional)" },
        { key: "workspace", name: "Workspace", value: "default" },
      ],
      act({ process, request, id, session, workspace }) {
        const one = chosen ?? choices[Number(process)];
        return Api.post("v1/executions", `{${member("process", one.process)}${member("projectId", one.projectId)}${member("version", one.version)}${member("workspaceId", workspace)}${
          member("executionId", id)}${member("channelSessionId", session)}"wait":"accepted","request":${request}}`);
      },
    });
    if (reply) goTo(reply.executionId);
  }

  async function take() {
    const reply = await Ask.form({
      title: "Import an execution", action: "Import",
      text: "One that ran in another engine goes on here: “active” names the nodes with a token, “passed” the edges that tokens took, each as often as it happened.",
      fields: [{ key: "body", name: "Import (JSON)", json: true, value: IMPORT, rows: 12 }],
      act: ({ body }) => Api.post("v1/executions/import", body),
    });
    if (reply) goTo(reply.executionId);
  }

  async function migrate(about) {
    const { definitions } = await Api.call("v1/definitions");
    const others = definitions.filter((one) => one.process === about.process && one.projectId === about.projectId && one.version !== about.version).sort((a, b) => b.version - a.version);
    if (others.length === 0) return Ask.tell("There is no other version", `Version ${about.version} of ${about.process} is the only one: deploy another first.`);
    return Ask.form({
      title: `Migrate ${about.process}?`, action: "Migrate",
      text: `It goes on in another version, with its waits, timers, calls, variables and history. Nodes keep their ids unless the mapping says otherwise; what has no counterpart is refused, and then nothing is changed.`,
      fields: [
        { key: "version", name: `From version ${about.version} to`, options: others.map((one) => [String(one.version), `v${one.version}${one.file ? ` · ${one.file}` : ""}`]) },
        { key: "mapping", name: "Mapping of ids (JSON)", json: true, rows: 4 },
      ],
      act: ({ version, mapping }) => Api.post(`${Api.execution(about.executionId)}/migrate`, `{"toVersion":${Number(version)},"mapping":${mapping}}`),
    });
  }

  async function remove(about) {
    const gone = await Ask.confirm({ title: `Delete ${about.process}?`, action: "Delete", danger: true,
      text: `All that is known of ${about.executionId} goes: its state, its steps, its row and its log. It does not come back, and modules hear nothing of it.`,
      act: async () => { await Api.remove(Api.execution(about.executionId)); return true; } });
    if (gone) location.hash = "view=executions";
  }

  return { start, take, migrate, remove, isNewest };
})();
