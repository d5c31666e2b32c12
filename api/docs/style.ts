/** Of the page of the routes: it follows the light or dark scheme of the browser, and fits a telephone. */
export const docsStyle = `
:root { color-scheme: light dark; --text: #1b1f24; --soft: #57606a; --back: #ffffff; --line: #d0d7de; --accent: #0550ae; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --soft: #9aa4af; --back: #0d1117; --line: #30363d; --accent: #79b8ff; } }
body { margin: 0 auto; max-width: 70rem; padding: 0 1rem 4rem; font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); }
a { color: var(--accent); }
nav a { margin-right: 0.8rem; }
code { font: 0.9em ui-monospace, monospace; overflow-wrap: anywhere; }
details { border-top: 1px solid var(--line); padding: 0.4rem 0; }
summary { cursor: pointer; overflow-wrap: anywhere; }
summary:focus-visible, a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.method { display: inline-block; min-width: 3.5rem; font-weight: 700; color: var(--accent); }
.type, .optional { color: var(--soft); }
.optional { font-style: italic; }
h3 { font-size: 1rem; margin: 0.8rem 0 0.2rem; }
ul { padding-left: 1.2rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; }
td, th { text-align: left; vertical-align: top; padding: 0.2rem 0.8rem 0.2rem 0; border-bottom: 1px solid var(--line); }
`
