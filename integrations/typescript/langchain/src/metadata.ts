// Metadata between LangChain, where it may be any JSON, and the server, which keeps what it can filter by.

type Plain = Record<string, unknown>;

/** The key of what the server has no form for, as JSON: it comes back, and no filter sees it. */
const rest = "_json";

/** Metadata as the server takes it. TypeError where a value is not JSON. */
export function pack(metadata: Plain): Plain {
  const [plain, other]: [Plain, Plain] = [{}, {}];
  for (const [key, value] of Object.entries(metadata)) {
    if (value !== undefined) (holds(key, value) ? plain : other)[key] = value;
  }
  return Object.keys(other).length > 0 ? { ...plain, [rest]: JSON.stringify(other) } : plain;
}

/** What was packed. */
export function unpack(metadata: Plain): Plain {
  const { [rest]: other, ...plain } = metadata;
  return typeof other === "string" ? { ...plain, ...(JSON.parse(other) as Plain) } : plain;
}

function holds(key: string, value: unknown): boolean {
  if (key === rest || key.length < 1 || key.length > 128 || key.startsWith("$")) return false;
  if (typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
  return Array.isArray(value) && value.length <= 1000 && value.every((one) => typeof one === "string");
}
