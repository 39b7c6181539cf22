// How figures are written.

const whole = new Intl.NumberFormat('en', {maximumFractionDigits: 0});
const short = new Intl.NumberFormat('en', {maximumSignificantDigits: 3});

/** Integers beyond 2^53 come as text. */
export function number(value) {
  return typeof value === 'string' ? Number(value) : value ?? 0;
}

/** 1,234,567 */
export function count(value) {
  return whole.format(number(value));
}

/** 1.23 M: for where there is little room */
export function compact(value) {
  const given = number(value);
  for (const [unit, size] of [['G', 1e9], ['M', 1e6], ['k', 1e4]]) {
    if (Math.abs(given) >= size) return `${short.format(given / (unit === 'k' ? 1e3 : size))} ${unit}`;
  }
  return whole.format(given);
}

/** Of something per second; null while it is not known. */
export function rate(value) {
  if (value === null || value === undefined) return '–';
  if (value === 0) return '0';
  return value < 10 ? value.toFixed(1) : compact(value);
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return '–';
  if (seconds === 0) return '0 ms';
  if (seconds < 0.001) return '< 1 ms';
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
  const [minutes, rest] = [Math.floor(seconds / 60), Math.floor(seconds % 60)];
  if (minutes < 60) return `${minutes} min ${rest} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function bytes(value) {
  let left = number(value);
  for (const unit of ['B', 'KiB', 'MiB', 'GiB']) {
    if (left < 1024 || unit === 'GiB') return `${left < 10 && unit !== 'B' ? left.toFixed(1) : Math.round(left)} ${unit}`;
    left /= 1024;
  }
  return '';
}

export function percent(part) {
  return `${Math.round(part * 100)} %`;
}

/** 20:14:05, in the time of who looks */
export function clock(time) {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? '–' : date.toLocaleTimeString('en-GB');
}

export function plural(value, one, many = `${one}s`) {
  return `${count(value)} ${number(value) === 1 ? one : many}`;
}

/** `weir::server::internal::Listener` as `server::internal::Listener` */
export function typeName(type) {
  return type.replaceAll('weir::', '').replaceAll('(anonymous namespace)::', '');
}
