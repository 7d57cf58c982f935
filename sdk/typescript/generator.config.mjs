// How hey-api makes src/api; see ../generate.sh. IN and OUT name the document and the folder.
export default {
  input: process.env.IN,
  output: { path: process.env.OUT, importFileExtension: ".js", module: { extension: ".js" }, header: "// Made by sdk/generate.sh." },
  logs: { file: false },
  plugins: ["@hey-api/typescript", "@hey-api/sdk", "@hey-api/client-fetch"],
};
