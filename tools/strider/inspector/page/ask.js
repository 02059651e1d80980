/*
 * ask.js: what a person is asked in a dialog: to confirm, for JSON, for the token.
 */
const Ask = (() => {
  "use strict";
  const { $, make, button } = Parts;

  /* `act` does it; the dialog stays, and says why, as long as that fails. Resolves to what act returned, or null: left. */
  function open({ title, content, action, danger, act, must, alone }) {
    const dialog = $("dialog");
    const error = make("div", "error");
    error.setAttribute("role", "alert");
    error.hidden = true;
    const go = make("button", danger ? "danger" : "primary", action);
    const heading = make("h2", "", title);
    heading.id = "dialog-title";
    return new Promise((resolve) => {
      let result = null;
      const leave = button("Cancel", "quiet", () => dialog.close());
      const sheet = make("form", "", heading, ...content, error, make("div", "choices", must || alone ? null : leave, go));
      sheet.addEventListener("submit", async (event) => {
        event.preventDefault();
        go.disabled = true;
        error.hidden = true;
        try {
          result = await act();
          dialog.close();
        } catch (failed) {
          error.replaceChildren(make("b", "", failed.code ?? "This cannot be sent"), failed.message);
          error.hidden = false;
        }
        go.disabled = false;
      });
      sheet.addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); sheet.requestSubmit(); } });
      dialog.oncancel = (event) => { if (must) event.preventDefault(); };
      dialog.onclose = () => { dialog.replaceChildren(); resolve(result); };
      dialog.replaceChildren(sheet);
      dialog.showModal();
    });
  }

  function field(name, input) {
    input.setAttribute("aria-label", name);
    return make("label", "field", make("span", "", name), input);
  }

  /* Text of a JSON object, as it was written: numbers keep their digits. */
  function jsonText(text) {
    const value = text.trim() === "" ? {} : JSON.parse(text);
    if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Error("It must be an object: { … }");
    return text.trim() === "" ? "{}" : text;
  }

  const BLANK = "{\n  \n}";
  function editorOf({ value, rows }) {
    const editor = make("textarea", "json");
    editor.rows = rows ?? 8;
    editor.spellcheck = false;
    editor.value = value ?? BLANK;
    return editor;
  }
  function inputOf(one) {
    if (one.json) return editorOf(one);
    if (one.options) return make("select", "", ...one.options.map(([value, text]) => new Option(text, value)));
    const input = make("input");
    input.type = "text";
    input.autocomplete = "off";
    input.value = one.value ?? "";
    return input;
  }

  /* `fields`: { key, name } of a line of text, with `options` of a choice, with `json` of an object, which is given as text. `act` gets
   * what was said by key. */
  function form({ title, text, shown, fields, action, danger, act }) {
    const inputs = fields.map((one) => [one, inputOf(one)]);
    const content = [text ? make("p", "muted", text) : null, shown ? make("div", "shown", shown) : null, ...inputs.map(([one, input]) => field(one.name, input))].filter(Boolean);
    const said = () => Object.fromEntries(inputs.map(([one, input]) => [one.key, one.json ? jsonText(input.value) : input.value.trim()]));
    const answer = open({ title, content, action, danger, act: async () => act(said()) });
    const [first] = (inputs.find(([one]) => one.json) ?? inputs[0]).slice(1);
    first.focus();
    if (first.value === BLANK) first.setSelectionRange(4, 4);
    return answer;
  }
  const json = ({ name, act, ...rest }) => form({ ...rest, fields: [{ key: "value", name, json: true }], act: ({ value }) => act(value) });
  const tell = (title, text) => open({ title, content: [make("p", "", text)], action: "Close", alone: true, act: async () => null });

  function confirm({ title, text, action, danger, reason, act }) {
    const input = make("input");
    input.type = "text";
    const content = [make("p", "", text), reason ? field("Reason (optional)", input) : null].filter(Boolean);
    return open({ title, content, action, danger, act: () => act(input.value.trim()) });
  }

  function token(again) {
    const input = make("input");
    input.type = "password";
    input.autocomplete = "off";
    input.required = true;
    const text = again ? "The engine does not know this token." : "This engine wants a token (auth.tokens). It is kept in this tab only.";
    return open({ title: "Token", content: [make("p", "muted", text), field("Token", input)], action: "Continue", must: true, act: async () => input.value.trim() });
  }

  return { json, form, tell, confirm, token, jsonText };
})();
