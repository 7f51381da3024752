# A worker as it is deployed without options: no binding, no flag, nothing of Node.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "tests", worker = (
    modules = [
      (name = "worker.mjs", esModule = embed "worker.mjs"),
      (name = "suite.mjs", esModule = embed "suite.mjs"),
    ],
    compatibilityDate = "2026-11-17",
  ))],
);
