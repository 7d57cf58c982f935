// Runs a bundle in Vercel's edge runtime, which has the web's interfaces and nothing of Node.js.
import { readFileSync } from "node:fs";
import { EdgeVM } from "@edge-runtime/vm";

const { MNEME_URL: baseUrl, MNEME_SERVICE_KEY, MNEME_INTEGRATION_KEY } = process.env;
const settings = ["edge", { baseUrl, apiKey: MNEME_SERVICE_KEY }, { baseUrl, apiKey: MNEME_INTEGRATION_KEY }];
const vm = new EdgeVM();
vm.evaluate(readFileSync("edge.js", "utf8"));
console.log(await vm.evaluate(`web.round(...${JSON.stringify(settings)})`));
