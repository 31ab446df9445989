"""How the site is made of its Markdown; `build.py` writes that and calls the generator."""

project = "resilint"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = [".doctrees"]
# Headings are linked to as on the usual hosts of repositories.
myst_heading_anchors = 4
html_theme = "furo"
html_title = "resilint"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_use_index = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
# Search works without a server, but for the excerpts, which a page opened from a file may not fetch.
html_show_search_summary = False
# Examples are often broken on purpose.
suppress_warnings = ["misc.highlighting_failure"]
