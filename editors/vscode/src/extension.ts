// A thin client: all that is known of a program comes from `resilint lsp`.
import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions } from "vscode-languageclient/node";

import { command } from "./command";

let client: LanguageClient | undefined;

async function start(): Promise<void> {
  const settings = vscode.workspace.getConfiguration("resilint");
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const server: ServerOptions = command(settings.get("path", "resilint"), settings.get("args", []), folder);
  const options: LanguageClientOptions = {
    // The server knows by itself which files it reads, whatever language the editor takes them for.
    documentSelector: [{ scheme: "file" }],
    diagnosticCollectionName: "resilint",
  };
  client = new LanguageClient("resilint", "resilint", server, options);
  try {
    await client.start();
  } catch (problem) {
    void vscode.window.showErrorMessage(`resilint cannot be started (setting resilint.path): ${String(problem)}`);
  }
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const restart = async (): Promise<void> => {
    await deactivate();
    await start();
  };
  context.subscriptions.push(
    vscode.commands.registerCommand("resilint.restart", restart),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("resilint.path") || change.affectsConfiguration("resilint.args")) {
        void restart();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  const running = client;
  client = undefined;
  if (running?.needsStop()) {
    await running.stop();
  }
}
