// How values are written. Names come from others: whatever steers how text is shown is escaped.

const STEERING = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Returns the text with characters escaped that steer how others are shown, such as U+202E. */
export function plain(text) {
  return String(text ?? "").replace(
    STEERING, (c) => "\\u" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0"));
}

/** Returns the seconds of a duration such as "3.5s"; none if there is none. */
export function seconds(duration) {
  return duration === undefined ? undefined : Number.parseFloat(duration);
}

/** Returns the moment, in milliseconds of this browser's clock, that was this duration ago; none if there is none. */
export function ago(duration) {
  return duration === undefined ? undefined : Date.now() - seconds(duration) * 1000;
}

/** Returns a number of seconds in its largest unit: "13 s", "4 min", "2 h", "3 days". */
export function span(value) {
  if (value === undefined || Number.isNaN(value)) return "";
  const whole = Math.max(0, value);
  if (whole < 10 && whole % 1 !== 0) return `${whole.toFixed(1)} s`;
  if (whole < 120) return `${Math.floor(whole)} s`;
  if (whole < 7200) return `${Math.floor(whole / 60)} min`;
  if (whole < 172800) return `${Math.floor(whole / 3600)} h`;
  return `${number(Math.floor(whole / 86400))} days`;
}

/** Returns how long ago a moment was, in whole units. */
export function since(moment, atLeast = false) {
  if (moment === undefined) return "";
  return (atLeast ? "≥ " : "") + span(Math.floor(Math.max(0, Date.now() - moment) / 1000));
}

/** Returns how long it is to a moment, in whole units. */
export function until(moment) {
  return moment === undefined ? "" : span(Math.floor(Math.max(0, moment - Date.now()) / 1000));
}

/** Returns a number in groups of three digits. */
export function number(value) {
  return Number(value ?? 0).toLocaleString("en");
}

/** Returns a count with its noun. */
export function count(value, one, many) {
  return `${number(value)} ${value === 1 ? one : many}`;
}

/** Returns how a contender holds or wants a lock, in words. */
export function modeOf(contender) {
  switch (contender?.mode) {
    case undefined: return "";
    case "LOCK_MODE_PERMITS": return `${number(contender.permits)} of ${number(contender.limit)} permits`;
    case "LOCK_MODE_CUSTOM": return plain(contender.custom);
    default: return contender.mode.replace("LOCK_MODE_", "").toLowerCase();
  }
}

/** Returns who a contender is: by what it says of itself, or else by its entry in ZooKeeper. */
export function who(contender) {
  return plain(contender.holder || contender.entry || "(not known)");
}

const ENDS = {
  PREVIOUS_END_RELEASED: "released",
  PREVIOUS_END_LEASE_EXPIRED: "its lease ended",
  PREVIOUS_END_COORDINATOR_LOST: "session lost",
  PREVIOUS_END_FORCED: "taken away",
  PREVIOUS_END_LOST: "lost",
  PREVIOUS_END_CANCELLED: "cancelled",
};

/** Returns how a hold ended, in words. */
export function endOf(hold) {
  return ENDS[hold.end] ?? "not known";
}
