/** What stands before every email in its frame: a policy for the frame by itself, beside that of the page, which holds in it as well. */
export const framePrefix =
  '<!DOCTYPE html>' +
  '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'; img-src data:">' +
  '<meta http-equiv="x-dns-prefetch-control" content="off">';

/**
 * The one script of a page, in its head: frames are made of the emails' data blocks when they come into sight, as high as what is
 * in them; sample data, search, keys. It makes no element out of a text but a frame's, and asks for nothing from anywhere.
 */
export const viewerScript = `(() => {
'use strict';
const prefix = ${JSON.stringify(framePrefix)};
const root = document.documentElement;
const all = (selector, at) => Array.from((at || document).querySelectorAll(selector));
const one = (selector, at) => (at || document).querySelector(selector);
root.classList.add('scripted');

// Frames: the emails that were looked at last have one.
const most = 40;
const lowest = 32;
const highest = 20000;
const mostElements = 5000;
const framed = new Set();
const visible = new Set();
const early = new Set();
const widths = new WeakMap();
const sized = new ResizeObserver((entries) => {
  for (const { target } of entries) fit(target, false);
});
const watched = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) {
      visible.add(target);
      show(target);
    } else visible.delete(target);
  }
}, { rootMargin: '400px 0px' });

function look(at) {
  for (const mail of all('.mail', at)) watched.observe(mail);
}

function show(mail) {
  if (framed.delete(mail)) {
    framed.add(mail);
    return;
  }
  const data = document.getElementById('email-' + mail.dataset.email);
  // Emails stand at the end of the page: it may not be there yet.
  if (!data) {
    if (document.readyState === 'loading') early.add(mail);
    return;
  }
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-same-origin');
  frame.setAttribute('referrerpolicy', 'no-referrer');
  frame.title = mail.dataset.title;
  frame.srcdoc = prefix + JSON.parse(data.textContent);
  frame.addEventListener('load', () => {
    widths.set(mail, 0);
    fit(mail, true);
    sized.observe(mail);
  });
  mail.append(frame);
  framed.add(mail);
  for (const old of framed) {
    if (framed.size <= most) break;
    if (visible.has(old)) continue;
    framed.delete(old);
    sized.unobserve(old);
    old.replaceChildren();
  }
}

function fit(mail, loaded) {
  const frame = mail.firstElementChild;
  const inner = frame && frame.contentDocument && frame.contentDocument.documentElement;
  const width = mail.clientWidth;
  if (!inner || width === 0 || (!loaded && !widths.has(mail)) || widths.get(mail) === width) return;
  widths.set(mail, width);
  spread(inner);
  // While it is measured, nothing of the width goes to a scroll bar.
  inner.style.setProperty('overflow', 'hidden', 'important');
  let height = lowest;
  let content = lowest;
  // What is a part of the frame's height may grow with it, without end.
  for (let pass = 0; pass < 4; pass += 1) {
    frame.style.height = height + 'px';
    content = heightOf(inner, height);
    if (content <= height || height === highest) break;
    height = Math.min(content, highest);
  }
  const bar = inner.scrollWidth > inner.clientWidth ? 18 : 0;
  frame.style.height = '';
  inner.style.setProperty('overflow', 'auto', 'important');
  mail.style.height = height + bar + 2 + 'px';
  cutNote(mail, content > highest ? content : 0);
}

// A page that scrolls within itself, is placed on its window or as high as that, is laid out as high as what is in it.
function spread(inner) {
  const view = inner.ownerDocument.defaultView;
  for (const box of inner.ownerDocument.body ? [inner, inner.ownerDocument.body] : [inner]) {
    const set = (name, value) => box.style.setProperty(name, value, 'important');
    set('height', 'auto');
    set('min-height', '0');
    set('max-height', 'none');
    if (box !== inner) set('overflow', 'visible');
    if (/absolute|fixed/.test(view.getComputedStyle(box).position)) {
      set('position', 'relative');
      for (const side of ['top', 'right', 'bottom', 'left']) set(side, 'auto');
    }
  }
}

// How high a frame of this height has to be to show all that is in it.
function heightOf(inner, height) {
  const view = inner.ownerDocument.defaultView;
  let most = inner.scrollHeight;
  let left = mostElements;
  let asked = 0;
  for (const element of inner.ownerDocument.body ? inner.ownerDocument.body.getElementsByTagName('*') : []) {
    left -= 1;
    if (left < 0) break;
    const { position, overflowY } = view.getComputedStyle(element);
    if (position !== 'fixed' && position !== 'absolute') continue;
    const { top, bottom } = element.getBoundingClientRect();
    if (position === 'fixed') most = Math.max(most, Math.ceil(bottom));
    // What scrolls in a part of the frame is as high as that.
    const inside = element.scrollHeight - element.clientHeight;
    if (inside <= 0 || !/auto|scroll/.test(overflowY) || asked === 20) continue;
    asked += 1;
    if (grows(element, inner, height))
      most = Math.max(most, Math.ceil(bottom - Math.min(0, top) + inside));
  }
  return most;
}

function grows(element, inner, height) {
  const frame = inner.ownerDocument.defaultView.frameElement;
  const before = element.clientHeight;
  frame.style.height = height + 100 + 'px';
  const after = element.clientHeight;
  frame.style.height = height + 'px';
  return after > before;
}

// Says that an email is higher than a frame gets.
function cutNote(mail, content) {
  const old = mail.nextElementSibling;
  if (old && old.matches('.cut')) old.remove();
  if (content === 0) return;
  const note = document.createElement('p');
  note.className = 'note cut';
  note.textContent = 'This email is ' + content.toLocaleString('en') + ' pixels high; its frame has ' + highest.toLocaleString('en') + ', the rest is there by scrolling in it.';
  mail.after(note);
}

// Sample data.
function pick(select) {
  const email = select.closest('.email');
  email.classList.add('picked');
  for (const variant of all('.variant', email)) {
    const chosen = variant.dataset.variant === select.value;
    variant.classList.toggle('chosen', chosen);
    if (chosen) variant.open = true;
  }
}

function open(change) {
  const select = one('.pick select', change);
  if (select && !select.closest('.picked')) pick(select);
  look(change);
}

// Search.
const texts = new WeakMap();
let pending;

function textOf(change) {
  let text = texts.get(change);
  if (text === undefined) {
    text = change.textContent.toLowerCase();
    texts.set(change, text);
  }
  return text;
}

function find() {
  const box = one('#search');
  const words = box.value.toLowerCase().split(/\\s+/).filter((word) => word !== '');
  const missed = new Set();
  for (const change of all('.change')) {
    const hit = words.every((word) => textOf(change).includes(word));
    change.classList.toggle('missed', !hit);
    if (!hit) missed.add(change.id);
  }
  for (const link of all('.contents li a')) {
    link.parentElement.classList.toggle('missed', missed.has(link.hash.slice(1)));
  }
  for (const group of all('.group')) group.classList.toggle('missed', !one('.change:not(.missed)', group));
  count();
}

function shown(change) {
  return change.getClientRects().length > 0;
}

function count() {
  const changes = all('.change');
  const left = changes.filter(shown).length;
  one('.found').textContent = left === changes.length ? '' : left + ' of ' + changes.length + ' shown';
}

// Keys.
function move(step) {
  const rows = all('.change > summary').filter(shown);
  const from = document.activeElement && document.activeElement.closest('.change');
  const at = rows.findIndex((row) => row.parentElement === from);
  const below = rows.findIndex((row) => row.getBoundingClientRect().top >= 0);
  const next = at >= 0 ? at + step : step > 0 ? (below < 0 ? rows.length - 1 : below) : (below < 0 ? rows.length : below) - 1;
  const row = rows[Math.max(0, Math.min(rows.length - 1, next))];
  if (!row) return;
  row.focus({ preventScroll: true });
  row.scrollIntoView({ block: 'nearest' });
}

function clear() {
  const box = one('#search');
  if (!box || box.value === '') return false;
  box.value = '';
  find();
  return true;
}

document.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const box = one('#search');
  const at = event.target;
  if (event.key === 'Escape') {
    if (!clear() && at === box) box.blur();
    return;
  }
  const keys = one('#keys');
  if (!box || (keys && !keys.checked)) return;
  if (at instanceof Element && at.closest('input[type="search"], select, textarea')) return;
  if (event.key === '/') {
    event.preventDefault();
    box.focus();
    box.select();
  } else if (event.key === 'j') move(1);
  else if (event.key === 'k') move(-1);
});

document.addEventListener('input', (event) => {
  if (event.target.id !== 'search') return;
  clearTimeout(pending);
  pending = setTimeout(find, 80);
});

document.addEventListener('change', (event) => {
  if (event.target.closest('.pick')) pick(event.target);
  if (event.target.closest('.filters')) count();
});

document.addEventListener('toggle', (event) => {
  const details = event.target;
  if (!details.open) return;
  if (details.matches('.change')) open(details);
  else look(details);
}, true);

function reach() {
  const id = location.hash.slice(1);
  const change = /^change-\\d+$/.test(id) ? document.getElementById(id) : null;
  if (!change) return;
  change.open = true;
  one('summary', change).focus({ preventScroll: true });
}

addEventListener('hashchange', reach);
document.addEventListener('DOMContentLoaded', () => {
  for (const change of all('.change[open]')) open(change);
  for (const template of all('.template')) look(template);
  for (const mail of early) show(mail);
  early.clear();
  reach();
});
})();
`;
