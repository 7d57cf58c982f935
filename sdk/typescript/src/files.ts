import type { FileForm, Metadata } from "./api/index.js";

/** A File, or a name with its content. */
export type FileInput = File | { name: string; content: Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | string };

/** The form of an upload. */
export function form(files: FileInput | FileInput[], metadata: Metadata | undefined): FileForm {
  const file = (Array.isArray(files) ? files : [files]).map((one) =>
    // Node.js 18 has no global File, and every runtime has it in a form.
    "content" in one ? named(one.name, one.content) : one,
  );
  return { file, ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata) }) };
}

function named(name: string, content: Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | string): File {
  return new File([content], name);
}
