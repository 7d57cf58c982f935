// The round in Cloudflare's runtime, as a worker whose settings are bindings.
import { round } from "./round.mjs";

export default {
  async test(_, { MNEME_URL: baseUrl, MNEME_SERVICE_KEY, MNEME_INTEGRATION_KEY }) {
    console.log(await round("worker", { baseUrl, apiKey: MNEME_SERVICE_KEY }, { baseUrl, apiKey: MNEME_INTEGRATION_KEY }));
  },
};
