// What calls take and answer, by the names of the API's reference.
export type * from "./api/types.gen.js";
