import type { FileForm, Metadata } from "./api/index.js";

/** A File, or a name with its content. */
export type FileInput = File | { name: string; content: Blob | ArrayBuffer | Uint8Array | string };

/** The form of an upload. */
export function form(files: FileInput | FileInput[], metadata: Metadata | undefined): FileForm {
  const file = (Array.isArray(files) ? files : [files]).map((one) =>
    "content" in one ? new File([one.content as BlobPart], one.name) : one,
  );
  return { file, ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata) }) };
}
