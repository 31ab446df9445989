// The protocol library that VS Code's client is made of, against the real server; and the packed extension against its promises.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);
const rpc = require("vscode-languageserver-protocol/node");

const server = (process.env.RESILINT ?? "resilint").split(" ");

/** A connection to a server that has a folder open. */
async function open(folder) {
  const child = spawn(server[0], [...server.slice(1), "lsp"], { stdio: ["pipe", "pipe", "inherit"] });
  const connection = rpc.createProtocolConnection(
    new rpc.StreamMessageReader(child.stdout),
    new rpc.StreamMessageWriter(child.stdin),
  );
  connection.onRequest(rpc.RegistrationRequest.type, () => undefined);
  connection.onRequest(rpc.DiagnosticRefreshRequest.type, () => undefined);
  connection.onRequest(rpc.CodeLensRefreshRequest.type, () => undefined);
  connection.listen();
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const initialized = await connection.sendRequest(rpc.InitializeRequest.type, {
    processId: process.pid,
    rootUri: null,
    capabilities: {
      textDocument: { diagnostic: {}, codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix"] } } } },
      workspace: { diagnostics: { refreshSupport: true }, workspaceEdit: { documentChanges: true } },
    },
    workspaceFolders: [{ uri: pathToFileURL(folder).href, name: "work" }],
  });
  await connection.sendNotification(rpc.InitializedNotification.type, {});
  return { connection, ended, initialized };
}

test("the client's protocol library understands what the server says", { timeout: 60_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "resilint-"));
  const file = join(folder, "app.py");
  const text = "import requests\n\n\ndef fetch(url):\n    return requests.get(url)\n";
  writeFileSync(file, text);
  const uri = pathToFileURL(file).href;
  const { connection, ended, initialized } = await open(folder);
  assert.equal(initialized.capabilities.diagnosticProvider.interFileDependencies, true);
  await connection.sendNotification(rpc.DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: "python", version: 1, text },
  });
  const report = await connection.sendRequest(rpc.DocumentDiagnosticRequest.type, { textDocument: { uri } });
  assert.deepEqual(report.items.map((item) => [item.code, item.range.start.line]), [["RS101", 4]]);
  const actions = await connection.sendRequest(rpc.CodeActionRequest.type, {
    textDocument: { uri },
    range: report.items[0].range,
    context: { diagnostics: report.items },
  });
  const titles = actions.map((action) => action.title);
  assert.ok(titles.some((title) => title.startsWith("Suppress RS101")), titles.join("\n"));
  const hover = await connection.sendRequest(rpc.HoverRequest.type, { textDocument: { uri }, position: { line: 4, character: 15 } });
  assert.match(hover.contents.value, /requests\.get/);
  await connection.sendRequest(rpc.ShutdownRequest.type);
  await connection.sendNotification(rpc.ExitNotification.type);
  assert.equal(await ended, 0);
});

test("the extension is built into one file and starts what its settings name", () => {
  const built = readFileSync(new URL("../dist/extension.js", import.meta.url), "utf8");
  assert.match(built, /resilint\.restart/);
  assert.doesNotMatch(built, /require\("vscode-languageclient/);
  const { contributes } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  for (const name of Object.keys(contributes.configuration.properties)) {
    assert.ok(name === "resilint.trace.server" || built.includes(`"${name.replace("resilint.", "")}"`), name);
  }
});
