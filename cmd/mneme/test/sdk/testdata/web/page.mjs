// The round in a page, whose server adds the keys.
import { round } from "./round.mjs";

const said = await round("page", { baseUrl: "/service" }, { baseUrl: new URL("/integration/", location.href).href }).catch(
  (failure) => `${failure}\n${failure.stack}`,
);
await fetch("/said", { method: "POST", body: said });
