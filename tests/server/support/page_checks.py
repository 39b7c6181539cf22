"""What is wrong with a page, as expressions for the browser: lists that should be empty."""

# What stands out of the window to the side, but for what can be scrolled by itself.
OVERFLOW = """[...document.querySelectorAll('body *')].filter((element) =>
  element.getBoundingClientRect().right > innerWidth + 1 && element.checkVisibility()
  && !element.closest('.graph, .table')).map((element) => element.outerHTML.slice(0, 120))"""

# Words of tables that are cut in two, but for names and long texts.
CUT_WORDS = """[...document.querySelectorAll('td:not(.words)')].filter((cell) => cell.checkVisibility()).flatMap((cell) => {
  const found = [];
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    for (const word of texts.currentNode.data.matchAll(/\\S+/g)) {
      const range = document.createRange();
      range.setStart(texts.currentNode, word.index);
      range.setEnd(texts.currentNode, word.index + word[0].length);
      if (range.getClientRects().length > 1) found.push(word[0]);
    }
  }
  return found;
})"""

# Texts that can hardly be read: the contrast that WCAG 2 asks for is 4.5, and 3 for large ones.
CONTRAST = """(() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const parse = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return {rgb: [r, g, b], a};
  };
  const light = ({rgb}) => rgb.map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index], 0);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.a > 250) return colour;
    }
    return parse('white');
  };
  return [...document.querySelectorAll('body *')].filter((element) =>
    [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())
    && element.checkVisibility() && !element.closest('svg, .skip, :disabled')).map((element) => {
      const style = getComputedStyle(element);
      const [one, other] = [light(parse(style.color)), light(ground(element))].sort((a, b) => b - a);
      const needed = parseFloat(style.fontSize) >= 24 ? 3 : 4.5;
      const ratio = (one + 0.05) / (other + 0.05);
      return ratio < needed ? `${ratio.toFixed(2)} ${element.outerHTML.slice(0, 120)}` : null;
    }).filter(Boolean);
})()"""

# What a screen reader could not name, or would not find.
UNNAMED = """(() => {
  const found = [];
  const name = (element) => element.getAttribute('aria-label') || element.textContent.trim()
    || (element.labels?.length ? element.labels[0].textContent : '') || element.alt;
  for (const element of document.querySelectorAll('main a[href], button, input, select, meter, progress, [role=group]')) {
    if (element.checkVisibility() && !name(element) && !element.closest('svg')) found.push(element.outerHTML.slice(0, 120));
  }
  for (const table of document.querySelectorAll('table')) {
    if (!table.caption?.textContent || [...table.tHead.rows[0].cells].some((cell) => cell.scope !== 'col')) found.push('table');
  }
  for (const drawing of document.querySelectorAll('svg')) if (drawing.getAttribute('aria-hidden') !== 'true') found.push('svg');
  const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
  for (const [index, id] of ids.entries()) if (ids.indexOf(id) !== index) found.push(`two have the id ${id}`);
  return found;
})()"""
