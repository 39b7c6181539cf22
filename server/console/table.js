// Tables that are sorted by a click or a key, and keep their rows while figures change.

import {follow, h, setAttribute, setText} from './dom.js';

/**
 * Columns have `title`, `value(item)` to sort by, `text(item)` or `cell` and `show(cell, item)`, and
 * maybe `numeric`, `rest` (left out where there is little room) and `first` (the name of the row).
 * Of more than `most` rows the first of their order are drawn; `onSort` is told of another order.
 */
export class Table {
  #columns;
  #most;
  #onSort;
  #key;
  #sorted = null;
  #head;
  #body = h('tbody');
  #items = [];

  constructor(caption, columns, {key, sorted = null, most = Infinity, onSort = () => {}}) {
    this.#columns = columns;
    this.#most = most;
    this.#onSort = onSort;
    this.#key = key;
    this.#sorted = sorted;
    this.#head = h('tr', {}, ...columns.map((column) => this.#makeHead(column)));
    this.element = h('div', {class: 'table', role: 'group', tabindex: '0', 'aria-label': caption},
      h('table', {}, h('caption', {}, caption), h('thead', {}, this.#head), this.#body));
    this.#showOrder();
  }

  get rows() {
    return this.#body.children.length;
  }

  /** The column by which it is sorted. */
  get sortedBy() {
    return this.#columns.find((column) => column.title === this.#sorted?.title);
  }

  show(items) {
    this.#items = items;
    const sorted = this.#sorted ? [...items].sort((a, b) => this.#compare(a, b)) : items;
    follow(this.#body, sorted.slice(0, this.#most), this.#key, () => this.#makeRow(), (row, item) => this.#updateRow(row, item));
  }

  #classOf(column) {
    const classes = [column.numeric && 'number', column.rest && 'rest', column.wide && 'words'].filter(Boolean);
    return classes.length > 0 ? classes.join(' ') : null;
  }

  #makeHead(column) {
    const title = column.value
      ? h('button', {type: 'button', onclick: () => this.#sortBy(column)}, column.title)
      : column.title;
    return h('th', {scope: 'col', class: this.#classOf(column)}, title);
  }

  #makeRow() {
    return h('tr', {}, ...this.#columns.map((column) => {
      const cell = h(column.first ? 'th' : 'td', {class: this.#classOf(column), scope: column.first ? 'row' : null});
      if (column.cell) cell.append(column.cell());
      return cell;
    }));
  }

  #updateRow(row, item) {
    this.#columns.forEach((column, index) => {
      const cell = row.children[index];
      if (column.show) column.show(column.cell ? cell.firstChild : cell, item);
      else setText(cell, column.text(item));
    });
  }

  #sortBy(column) {
    const title = column.title;
    const isSame = this.#sorted?.title === title;
    // Of figures the greatest first: that is what one looks for.
    const falls = isSame ? !this.#sorted.falls : Boolean(column.numeric);
    this.#sorted = {title, falls};
    this.#showOrder();
    this.show(this.#items);
    this.#onSort();
  }

  #showOrder() {
    this.#columns.forEach((column, index) => {
      const isThis = this.#sorted?.title === column.title;
      setAttribute(this.#head.children[index], 'aria-sort',
        isThis ? (this.#sorted.falls ? 'descending' : 'ascending') : null);
    });
  }

  #compare(a, b) {
    const column = this.#columns.find((one) => one.title === this.#sorted.title);
    const [left, right] = [column.value(a), column.value(b)];
    const order = typeof left === 'string' ? left.localeCompare(right) : (left ?? -1) - (right ?? -1);
    return (this.#sorted.falls ? -order : order) || String(this.#key(a)).localeCompare(String(this.#key(b)));
  }
}
