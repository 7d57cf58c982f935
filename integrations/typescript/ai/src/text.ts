// Texts within the bounds of the API.

const queryCharacters = 8192;
const messageUnits = 16384; // of UTF-16, each at most 3 bytes of UTF-8 where a message has 65,536

/**
 * What is looked for to answer a text: all of it, or its beginning and its end, where the question usually is; "" where
 * it says nothing.
 */
export function asQuery(text: string): string {
  const characters = Array.from(text.replaceAll("\0", " ").trim());
  const half = queryCharacters / 2;
  return characters.length <= queryCharacters
    ? characters.join("")
    : [...characters.slice(0, half), ...characters.slice(-half)].join("");
}

/** A text as contents of messages, one unless it is long. */
export function asContents(text: string): string[] {
  const contents = [];
  const whole = text.replaceAll("\0", "");
  for (let start = 0; start < whole.length; ) {
    let end = Math.min(start + messageUnits, whole.length);
    if (end < whole.length && /[\uD800-\uDBFF]/.test(whole[end - 1]!)) end--; // a pair stays together
    contents.push(whole.slice(start, end));
    start = end;
  }
  return contents.filter((one) => one.trim() !== "");
}
