import { statuses } from '../apply/result.js';
import { kindNames } from '../base/kind-names.js';
import { actions } from './words.js';

const light = `
  --page: #f6f8fa; --card: #ffffff; --text: #1f2328; --quiet: #59636e; --line: #d1d9e0; --link: #0550ae;
  --add: #116329; --add-back: #dafbe1; --cut: #a40e26; --cut-back: #ffebe9; --note: #7a4a00; --note-back: #fff8c5;
  --mark: #6639ba; --mark-back: #fbefff; --code: #eff2f5; --focus: #0969da;`;

const dark = `
  --page: #0d1117; --card: #161b22; --text: #e6edf3; --quiet: #9da7b3; --line: #3d444d; --link: #79c0ff;
  --add: #7ee787; --add-back: #12261e; --cut: #ffa198; --cut-back: #2d1517; --note: #f2cc60; --note-back: #2b2111;
  --mark: #d2a8ff; --mark-back: #211830; --code: #21262d; --focus: #58a6ff;`;

/** Filters as style rules. Their selectors are narrow, since a browser evaluates them often on a large page. */
const filters = [
  ...kindNames.map((kind) => ['kind', kind]),
  ...actions.map((action) => ['action', action]),
  ...statuses.map((status) => ['status', status]),
]
  .map(([name, value]) => {
    const unchecked = `.filters:has(input[name="${name}"][value="${value}"]:not(:checked))`;
    const matching = `[data-${name}="${value}"]`;
    return `${unchecked} ~ .group${matching}, ${unchecked} ~ .group ${matching} { display: none; }`;
  })
  .join('\n');

export const styles = `
:root { color-scheme: light dark;${light} }
@media (prefers-color-scheme: dark) { :root {${dark} } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
main, header { max-width: 96rem; margin: 0 auto; padding: 1rem; }
header { padding-bottom: 0; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .5rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2rem 0 .75rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .5rem; overflow-wrap: anywhere; }
p { margin: .5rem 0; }
a { color: var(--link); }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .875em; }
code { background: var(--code); border-radius: .25rem; padding: .1em .3em; overflow-wrap: anywhere; }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { position: static; display: inline-block; padding: .5rem 1rem; }
.quiet { color: var(--quiet); }
.facts { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: .5rem 0; padding: 0; list-style: none; }
.counts { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1rem 0 0; padding: 0; list-style: none; }
.counts li { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .35rem .75rem; }
.counts strong { font-size: 1.15rem; }
.note, .warning, .loss { border-left: .25rem solid; border-radius: .25rem; padding: .4rem .75rem; margin: .5rem 0;
  overflow-wrap: anywhere; }
.drift { margin: .25rem 0 0; font-weight: normal; color: var(--mark); overflow-wrap: anywhere; }
.note { color: var(--text); border-color: var(--line); background: var(--code); }
.warning { color: var(--note); border-color: var(--note); background: var(--note-back); }
.loss { color: var(--cut); border-color: var(--cut); background: var(--cut-back); }
.warning a, .loss a { color: inherit; }
.filters { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; padding: .75rem; background: var(--card);
  border: 1px solid var(--line); border-radius: .5rem; }
fieldset { border: 0; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: .25rem 1rem; align-items: center; }
legend { float: left; padding: 0; margin-right: .75rem; font-weight: 600; }
label { display: inline-flex; align-items: center; gap: .35rem; min-height: 2rem; }
input { width: 1.1rem; height: 1.1rem; margin: 0; accent-color: var(--focus); }
.change { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0; }
.change > summary { padding: .6rem .75rem; cursor: pointer; overflow-wrap: anywhere; }
.change > summary::marker { color: var(--quiet); }
.change > .inside { scroll-margin-top: 6rem; padding: 0 .75rem .75rem; border-top: 1px solid var(--line); }
.change .address { font-weight: 600; background: none; padding: 0 .25rem; }
.change .place { display: block; font-size: .875rem; }
.badge { display: inline-block; border-radius: 1rem; padding: 0 .6rem; font-size: .8125rem; font-weight: 600;
  border: 1px solid currentColor; }
.badge.update { color: var(--note); background: var(--note-back); }
.badge.delete, .badge.blocked, .badge.loses { color: var(--cut); background: var(--cut-back); }
.badge.regenerate { color: var(--mark); background: var(--mark-back); }
.badge.adopt, .badge.unchanged { color: var(--quiet); }
.badge.applied { color: var(--add); background: var(--add-back); }
.badge.failed { color: var(--cut); background: var(--cut-back); }
.badge.doubtful { color: var(--note); background: var(--note-back); }
table { width: 100%; border-collapse: collapse; table-layout: fixed; margin: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .4rem .5rem; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere; }
thead th { color: var(--quiet); font-size: .8125rem; }
thead th:first-child { width: 24%; }
tbody th { font-weight: 400; }
tbody th code { background: none; padding: 0; }
td code { background: none; padding: 0; }
td.before { color: var(--cut); }
td.after { color: var(--add); }
td.unknown { color: var(--quiet); }
.set li { padding: .05rem .4rem; border-radius: .2rem; }
.set { margin: 0; padding: 0; list-style: none; font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  font-size: .875em; }
.added { color: var(--add); background: var(--add-back); }
.removed { color: var(--cut); background: var(--cut-back); }
.changed { color: var(--note); background: var(--note-back); }
pre { margin: .5rem 0; padding: .5rem; background: var(--page); border: 1px solid var(--line); border-radius: .35rem;
  white-space: pre-wrap; overflow-wrap: anywhere; overflow: auto; max-height: 40rem; }
pre.diff { padding: .5rem 0; }
pre.diff span { display: block; padding: 0 .5rem 0 2.2ch; text-indent: -1.2ch; }
ins, del { border-radius: .15rem; text-decoration: none; box-decoration-break: clone; -webkit-box-decoration-break: clone; }
ins { color: var(--card); background: var(--add); }
del { color: var(--card); background: var(--cut); }
pre.diff .at { color: var(--mark); background: var(--mark-back); }
.tabs > fieldset { margin: 1rem 0 .25rem; }
.tabs > .panel { display: none; }
.tabs > fieldset:has(input[value="rendered"]:checked) ~ .panel.rendered,
.tabs > fieldset:has(input[value="text"]:checked) ~ .panel.text,
.tabs > fieldset:has(input[value="source"]:checked) ~ .panel.source { display: block; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 1rem; }
.trio { display: grid; gap: 1rem; grid-template-columns: minmax(0, 1fr); align-items: start; }
@media (min-width: 50rem) {
  .trio { grid-template-columns: 375px minmax(0, 1fr); }
  .trio .wide { grid-column: 1 / -1; }
}
@media (min-width: 85rem) {
  .trio { grid-template-columns: minmax(640px, 2fr) 375px minmax(0, 1fr); }
  .trio .wide { grid-column: auto; }
}
@media (max-width: 40rem) { .trio .narrow { display: none; } }
nav { overflow-wrap: anywhere; }
figure { margin: 0; min-width: 0; }
figcaption { color: var(--quiet); font-size: .8125rem; margin: .25rem 0; }
.mail { height: 34rem; min-height: 4rem; resize: vertical; border: 1px solid var(--line); border-radius: .35rem; background: #ffffff; overflow: hidden; }
iframe { display: block; width: 100%; height: 100%; border: 0; color-scheme: light; }
.narrow .mail { width: 375px; max-width: 100%; }
.contents { margin: .75rem 0; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: 0 .75rem; }
.contents > summary { padding: .5rem 0; font-weight: 600; cursor: pointer; }
.contents nav { max-height: 60vh; overflow: auto; padding: 0 .25rem .5rem; }
.contents details > summary { padding: .25rem 0; cursor: pointer; }
.contents ul { margin: 0; padding: 0 0 0 1rem; list-style: none; }
.contents li { padding: .2rem 0; }
figure pre { margin: 0; max-height: 34rem; }
.variant > summary { cursor: pointer; padding: .35rem 0; font-weight: 600; overflow-wrap: anywhere; }
footer { max-width: 96rem; margin: 0 auto; padding: 1rem; color: var(--quiet); overflow-wrap: anywhere; }
@media (max-width: 40rem) {
  thead { position: absolute; left: -99rem; }
  tbody tr { display: grid; grid-template-columns: 1fr 1fr; border-bottom: 1px solid var(--line); }
  tbody th { grid-column: 1 / -1; font-weight: 600; border: 0; padding-bottom: 0; }
  td { border: 0; }
}
@media print {
  .filters, .contents, .skip, .tabs > fieldset { display: none; }
  .tabs > .panel { display: block; }
  pre { max-height: none; }
}
${filters}
.filters:has(input[value="destructive"]:checked) ~ .group .change:not(.destructive) { display: none; }
.filters:has(input[value="privileged"]:checked) ~ .group .change:not(.privileged) { display: none; }
.filters:has(input[value="drift"]:checked) ~ .group .change:not(.drifted) { display: none; }
.filters:has(input[value="warnings"]:checked) ~ .group .change:not(.warns) { display: none; }
`;
