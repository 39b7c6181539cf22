// Asking the server, one request at a time.

const tokenKey = 'weir.token';
const patience = 10_000;

/** Why something was not answered: `status` is 0 if nobody did. */
export class Refusal extends Error {
  constructor(status, code, detail) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

export function token() {
  return sessionStorage.getItem(tokenKey);
}

export function setToken(text) {
  if (text) sessionStorage.setItem(tokenKey, text);
  else sessionStorage.removeItem(tokenKey);
}

async function refusalOf(response) {
  try {
    const problem = await response.json();
    return new Refusal(response.status, problem.code, problem.detail);
  } catch {
    return new Refusal(response.status, 'unknown', response.statusText);
  }
}

async function request(method, path) {
  const headers = {Accept: 'application/json'};
  if (token()) headers.Authorization = `Bearer ${token()}`;
  let response;
  try {
    response = await fetch(path, {
      method, headers, cache: 'no-store', credentials: 'omit', redirect: 'error',
      signal: AbortSignal.timeout(patience),
    });
  } catch (failure) {
    throw new Refusal(0, 'unreachable', `the server does not answer: ${failure.message}`);
  }
  if (!response.ok) throw await refusalOf(response);
  if (response.status === 204) return null;
  try {
    return await response.json();
  } catch (failure) {
    throw new Refusal(0, 'unreachable', `the answer broke off: ${failure.message}`);
  }
}

export function get(path) {
  return request('GET', path);
}

export function post(path) {
  return request('POST', path);
}

/** A path whose parts may have anything in them. */
export function path(...parts) {
  return `/api/v1/${parts.map(encodeURIComponent).join('/')}`;
}
