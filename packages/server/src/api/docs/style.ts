// Style of the API reference. The page's security policy contains its hash.

export const STYLE = `
:root { color-scheme: light dark; --ink: #1c2430; --quiet: #5c6878; --line: #dde3ea; --paper: #fff; --panel: #f6f8fa; --accent: #0b63c5;
  --get: #0b63c5; --post: #137a3a; --put: #8a5a00; --patch: #8a5a00; --delete: #b3261e }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e9f0; --quiet: #9aa7b8; --line: #2c3644; --paper: #11161d; --panel: #19212b; --accent: #79b8ff;
  --get: #79b8ff; --post: #6fd08c; --put: #e8b64c; --patch: #e8b64c; --delete: #ff8a80 } }
* { box-sizing: border-box }
html { scroll-padding-top: 1rem }
body { margin: 0; font: 1rem/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); display: grid; grid-template-columns: 17rem minmax(0, 1fr) }
a { color: var(--accent); text-decoration: none }
a:hover, a:focus-visible { text-decoration: underline }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1.25rem; border-right: 1px solid var(--line); background: var(--panel) }
nav h3 { margin: 1.2rem 0 .3rem; font-size: .95rem }
nav h3 a { color: var(--ink) }
nav ul { list-style: none; margin: 0; padding: 0; font-size: .875rem }
nav li a { display: block; padding: .1rem 0; color: var(--ink); overflow-wrap: anywhere }
.brand { font-weight: 700; font-size: 1.2rem; color: var(--ink) }
main { padding: 2rem clamp(1rem, 4vw, 4rem) 6rem; max-width: 62rem }
h1 { margin: 0 0 1rem; font-size: 2rem }
h2 { margin: 3.5rem 0 1rem; padding-bottom: .3rem; border-bottom: 2px solid var(--line); font-size: 1.5rem }
article { padding: 1.5rem 0; border-bottom: 1px solid var(--line) }
article h3 { margin: 0 0 .5rem; font-size: 1.05rem; overflow-wrap: anywhere }
h4 { margin: 1.2rem 0 .4rem; font-size: .9rem }
.summary { margin: 0 0 .5rem }
.method { display: inline-block; min-width: 3.6em; font: 700 .72rem/1.4 ui-monospace, monospace; text-transform: uppercase; color: var(--accent) }
.get { color: var(--get) } .post { color: var(--post) } .put { color: var(--put) } .patch { color: var(--patch) } .delete { color: var(--delete) }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .875em }
pre { margin: .3rem 0; padding: .9rem 1rem; background: var(--panel); border: 1px solid var(--line); border-radius: .4rem; overflow-x: auto }
.fields { width: 100%; border-collapse: collapse; font-size: .9rem }
.fields th, .fields td { text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0; border-top: 1px solid var(--line); font-weight: 400 }
.fields th { width: 13rem; overflow-wrap: anywhere }
.fields p { margin: .15rem 0 0 }
.type { font-weight: 400; color: var(--accent) }
.quiet { color: var(--quiet); font-weight: 400; overflow-wrap: anywhere }
details { margin: .3rem 0; padding-left: .8rem; border-left: 2px solid var(--line) }
summary { cursor: pointer; color: var(--quiet); font-size: .85rem }
:target { scroll-margin-top: 1rem }
article:target h3 { text-decoration: underline; text-decoration-color: var(--accent); text-underline-offset: .3em }
@media (max-width: 52rem) { body { display: block } nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line) } .fields th { width: 9rem } }
@media print { nav { display: none } body { display: block } }
`;
