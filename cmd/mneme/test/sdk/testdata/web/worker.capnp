using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker", esModule = embed "worker.js")],
      compatibilityDate = "2026-01-01",
      bindings = [
        (name = "MNEME_URL", fromEnvironment = "MNEME_URL"),
        (name = "MNEME_SERVICE_KEY", fromEnvironment = "MNEME_SERVICE_KEY"),
        (name = "MNEME_INTEGRATION_KEY", fromEnvironment = "MNEME_INTEGRATION_KEY"),
      ],
    )),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
);
