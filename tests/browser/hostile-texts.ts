// Texts that try to inject markup or scripts, for tests that show them on every screen. A script that runs sets
// `window.canary`; an injected element is an <x-canary>, or has an attribute that runs.

const RUN = "window.canary=1";

const markup = [
  `<x-canary>`,
  `<script>${RUN}</script>`,
  `<SCRIPT SRC=//evil.invalid/x.js></SCRIPT>`,
  `<img src=x onerror="${RUN}">`,
  `<img src="https://evil.invalid/pixel.png">`,
  `<img/src=x/onerror=${RUN}>`,
  `<IMG """><SCRIPT>${RUN}</SCRIPT>">`,
  `<svg onload=${RUN}>`,
  `<svg><script>${RUN}</script></svg>`,
  `<svg><animate onbegin=${RUN} attributeName=x dur=1s>`,
  `<svg><use href="data:image/svg+xml,<svg id='x' onload='${RUN}'/>#x">`,
  `<svg><a xlink:href="javascript:${RUN}"><text y=20>x</text></a></svg>`,
  `<iframe srcdoc="<script>parent.canary=1</script>">`,
  `<iframe src="javascript:parent.canary=1">`,
  `<object data="javascript:${RUN}"></object>`,
  `<embed src="//evil.invalid/x.swf">`,
  `<body onload=${RUN}>`,
  `<details open ontoggle=${RUN}>x</details>`,
  `<input autofocus onfocus=${RUN}>`,
  `<video><source onerror=${RUN}></video>`,
  `<marquee onstart=${RUN}>x</marquee>`,
  `<form action="javascript:${RUN}"><button>x</button></form>`,
  `<a href="javascript:${RUN}">x</a>`,
  `<base href="https://evil.invalid/">`,
  `<link rel=stylesheet href="https://evil.invalid/x.css">`,
  `<meta http-equiv="refresh" content="0;url=https://evil.invalid/">`,
  `<template><x-canary></template><x-canary>`,
  `<x-canary style="position:fixed;inset:0">`,
];

const breakouts = [
  `"><x-canary>`,
  `'><x-canary>`,
  `" onmouseover="${RUN}" x="`,
  `' onfocus='${RUN}' autofocus='`,
  `\` onload=\`${RUN}`,
  `</title><x-canary>`,
  `</textarea><x-canary>`,
  `</pre></code><x-canary>`,
  `</script><script>${RUN}</script>`,
  `--><x-canary><!--`,
  `]]><x-canary>`,
  `"/><svg/onload=${RUN}>`,
];

const mutations = [
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${RUN}&gt;">`,
  `<noscript><p title="</noscript><img src=x onerror=${RUN}>">`,
  `<svg></p><style><a id="</style><img src=1 onerror=${RUN}>">`,
  `<form><math><mtext></form><form><mglyph><style></math><img src onerror=${RUN}>`,
  `&lt;img src=x onerror=${RUN}&gt;`,
  `&#x3C;script&#x3E;${RUN}&#x3C;/script&#x3E;`,
  `%3Cscript%3E${RUN}%3C/script%3E`,
  `\\u003cscript\\u003e${RUN}\\u003c/script\\u003e`,
  `\uFF1Cscript\uFF1E${RUN}\uFF1C/script\uFF1E`,
];

const addresses = [
  `javascript:${RUN}`,
  `JaVaScRiPt:${RUN}`,
  `java\tscript:${RUN}`,
  ` javascript:${RUN}`,
  `data:text/html,<script>${RUN}</script>`,
  `vbscript:msgbox(1)`,
  `//evil.invalid/x`,
  `https://user:pass@evil.invalid/\u202Egnp.exe`,
];

const templates = [
  `{{constructor.constructor('${RUN}')()}}`,
  `\${${RUN}}`,
  `<%= ${RUN} %>`,
  `#{${RUN}}`,
  `{"__proto__":{"polluted":1}}`,
  `{"constructor":{"prototype":{"polluted":1}}}`,
  `__proto__`,
  `constructor`,
];

const styles = [
  `<style>@import 'https://evil.invalid/x.css';</style>`,
  `</style><style>*{background:url(https://evil.invalid/y)}</style>`,
  `x;background:url(https://evil.invalid/z)`,
  `expression(${RUN})`,
];

const unicode = [
  "\u202Egnp.exe",
  "\u2066\u2067a\u2069b",
  "a\u200Bb\u200C\u200D\uFEFFc",
  "Z\u0351\u036B\u0343A\u0321\u034AL\u0316\u0309G\u0356\u030AO".repeat(4),
  "\u{1F469}\u200D\u{1F469}\u200D\u{1F467} \u{1D4D7} \uD83D",
  "\u0130\u0131\u017F\u212A",
  "\uFDFD".repeat(20),
  "مرحبا <x-canary> עולם",
];

const terminal = [
  "\u001b[31mred\u001b[0m\u0007",
  "\u001b]0;title\u0007",
  "a\r\nSet-Cookie: canary=1",
  "\u0000nul\u0008",
];

const huge = ["W".repeat(4_000), "<b>".repeat(1_500), `${"a ".repeat(2_000)}<x-canary>`];

export const HOSTILE_TEXTS: readonly string[] = [
  ...markup,
  ...breakouts,
  ...mutations,
  ...addresses,
  ...templates,
  ...styles,
  ...unicode,
  ...terminal,
  ...huge,
];
