// Asks the coordinator's API.

const LIMIT_MILLIS = 20_000;

/** What the API answers instead of what was asked for; the message is meant to be read. */
export class ApiError extends Error {
  constructor(status, message, reason = "") {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

async function ask(path, options, signal) {
  const limit = AbortSignal.timeout(LIMIT_MILLIS);
  let answer;
  try {
    answer = await fetch(path, { ...options, signal: signal ? AbortSignal.any([signal, limit]) : limit });
  } catch (e) {
    if (signal?.aborted) throw e;
    throw new ApiError(0, limit.aborted ? "the coordinator does not answer" : "the coordinator cannot be reached");
  }
  const text = await answer.text();
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    throw new ApiError(answer.status, text.trim() || `status ${answer.status}`);
  }
  if (!answer.ok && path.startsWith("/v1/")) {
    throw new ApiError(answer.status, body.message ?? `status ${answer.status}`, body.reason);
  }
  return body;
}

/** Returns the answer to a GET. */
export function get(path, signal) {
  return ask(path, {}, signal);
}

/** Returns the answer to a POST of a message. */
export function post(path, message, signal) {
  const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(message) };
  return ask(path, options, signal);
}

/** Returns a lock's name as part of a path: its slashes stay. */
export function inPath(name) {
  return name.split("/").map(encodeURIComponent).join("/");
}

/** Returns all leases of this coordinator, up to a limit, and whether there are more. */
export async function allLeases(signal, limit = 10_000) {
  const leases = [];
  let token = "";
  do {
    const page = await get(`/v1/leases?pageSize=1000&pageToken=${encodeURIComponent(token)}`, signal);
    leases.push(...(page.leases ?? []));
    token = page.nextPageToken ?? "";
  } while (token && leases.length < limit);
  return { leases, more: Boolean(token) };
}
