// The document names the server by the URL that its operator gave, which may be
// another than the one this page came from. Calls from here go to this one.
"use strict";
(async () => {
  const place = document.getElementById("reference");
  try {
    const answer = await fetch("openapi.json");
    if (!answer.ok) throw new Error(`openapi.json answered ${answer.status}`);
    const spec = await answer.json();
    spec.servers = [{ url: new URL(".", location.href).href.replace(/\/$/, ""), description: "This server" }];
    SwaggerUIBundle({
      spec,
      domNode: place,
      deepLinking: true,
      docExpansion: "none",
      defaultModelsExpandDepth: 0,
      displayRequestDuration: true,
      filter: true,
      tryItOutEnabled: true,
      validatorUrl: null,
      presets: [SwaggerUIBundle.presets.apis],
      layout: "BaseLayout",
    });
  } catch (error) {
    place.className = "failed";
    place.textContent = `The reference can't be shown: ${error.message}.`;
  }
})();
