"""Neovim as people use it: it shows what the server finds, and a code action changes the text."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

OUTAGE = Path(__file__).parents[2] / "examples" / "outages" / "gateway" / "broken"

SCRIPT = """
local done, problem = pcall(function()
  local command = vim.fn.json_decode(vim.env.SERVER)
  vim.cmd("edit " .. vim.env.OPENED)
  local client = vim.lsp.start_client({ name = "resilint", cmd = command, root_dir = vim.env.ROOT })
  vim.lsp.buf_attach_client(0, client)
  local function shown()
    return vim.diagnostic.get(0)
  end
  assert(vim.wait(60000, function() return #shown() > 0 end, 50), "no diagnostics")
  local first = shown()[1]
  local before = #shown()
  vim.api.nvim_win_set_cursor(0, { first.lnum + 1, first.col })
  local place = vim.lsp.util.make_range_params()
  place.context = { diagnostics = {} }
  local answers = vim.lsp.buf_request_sync(0, "textDocument/codeAction", place, 60000)
  local titles, chosen = {}, nil
  for _, action in ipairs(answers[client].result) do
    table.insert(titles, action.title)
    if vim.startswith(action.title, "Suppress") then chosen = action end
  end
  vim.lsp.util.apply_workspace_edit(chosen.edit, "utf-16")
  local suppressed = vim.wait(60000, function() return #shown() < before end, 50)
  vim.fn.writefile({ vim.fn.json_encode({
    code = first.code, line = first.lnum, message = first.message, titles = titles, suppressed = suppressed,
    text = vim.api.nvim_buf_get_lines(0, 0, -1, false),
  }) }, vim.env.RESULT)
end)
if not done then vim.fn.writefile({ tostring(problem) }, vim.env.RESULT) end
vim.lsp.stop_client(vim.lsp.get_active_clients())
vim.cmd("qall!")
"""


@pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not installed")
def test_neovim_shows_an_outage_and_a_code_action_suppresses_it(tmp_path: Path) -> None:
    root = tmp_path / "outage"
    shutil.copytree(OUTAGE, root)
    opened = root / "httpx" / "send.go"
    before = opened.read_text("utf-8")
    script, result = tmp_path / "script.lua", tmp_path / "result.json"
    script.write_text(SCRIPT)
    environment = {
        **os.environ,
        "SERVER": json.dumps([sys.executable, "-c", "from resilint.cli import main; main()", "lsp"]),
        "ROOT": str(root),
        "OPENED": str(opened),
        "RESULT": str(result),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "RESILINT_CACHE_DIR": str(tmp_path / "cache"),
    }
    command = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {script}"]
    subprocess.run(command, env=environment, timeout=180, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    text = result.read_text("utf-8")
    assert text.startswith("{"), text
    told = json.loads(text)
    assert (told["code"], told["line"]) == ("RS105", 41) and "never reaches" in told["message"]
    assert any(title.startswith("Explain RS105") for title in told["titles"])
    rows = before.splitlines()
    assert told["text"] == [*rows[:41], "\t// resilint: ignore[RS105] why this may stay", *rows[41:]]
    assert told["suppressed"], "the finding goes when the text has changed"
    assert opened.read_text("utf-8") == before, "the file is the user's to save"
