/** How the server is started: the program and its arguments. */
export interface Command {
  command: string;
  args: string[];
}

/** The command line of the server by the settings `resilint.path` and `resilint.args`; `folder` is the workspace's first. */
export function command(path: string, args: readonly string[], folder: string | undefined): Command {
  const program = (path.trim() || "resilint").replace(/\$\{workspaceFolder\}/g, folder ?? ".");
  return { command: program, args: ["lsp", ...args] };
}
