//go:build browser

package ui

import "strings"

// faults lists what keeps people from reading a page or from using it by the keyboard: text with less contrast to its ground than WCAG 2 asks for (4.5, and 3
// for the borders of fields), pictures that scroll but take no focus, links within what is one image to screen readers, and a page without a main part.
const faults = `(() => {
  const found = [];
  const parts = color => color.match(/[\d.]+/g).map(Number);
  const light = color => {
    const [r, g, b] = parts(color).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => {
    const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const ground = e => {
    for (; e; e = e.parentElement) {
      const color = getComputedStyle(e).backgroundColor;
      if (parts(color)[3] !== 0) {
        return color;
      }
    }
    return 'rgb(255, 255, 255)';
  };
  const enough = (what, color, on, least) => {
    if (contrast(color, on) < least) {
      found.push(what + ' has the contrast ' + contrast(color, on).toFixed(2) + ' on ' + on);
    }
  };
  for (const text of document.querySelectorAll('svg text, svg tspan')) {
    const box = text.closest('g').querySelector(':scope > .box');
    enough(text.textContent, getComputedStyle(text).fill, box ? getComputedStyle(box).fill : ground(text), 4.5);
  }
  for (const field of document.querySelectorAll('input')) {
    enough('the placeholder of #' + field.id, getComputedStyle(field, '::placeholder').color, ground(field), 4.5);
    enough('the border of #' + field.id, getComputedStyle(field).borderTopColor, ground(field.parentElement), 3);
  }
  for (const picture of document.querySelectorAll('.picture')) {
    if (picture.tabIndex !== 0 || !picture.getAttribute('aria-label')) {
      found.push('a picture takes no focus or has no label');
    }
  }
  if (document.querySelector('[role=img] a')) {
    found.push('links are within an image');
  }
  if (document.querySelectorAll('main').length !== 1) {
    found.push('the page has no main part');
  }
  return found.join('\n');
})()`

// accessible holds that the page has no faults in the colours that it shows.
func (b *browser) accessible(scheme string) {
	b.t.Helper()
	if found := eval[string](b, faults); found != "" {
		b.t.Errorf("%s:\n%s", scheme, strings.TrimSpace(found))
	}
}
