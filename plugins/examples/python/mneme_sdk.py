"""Serves a model to Mneme by the process protocol, over grpcio.

Write a class with the methods of Model for what your model does, and call
serve(model). Everything else stands here: the handshake, the health service, the
way out when the host ends, and the errors.
"""

import os
import sys
import threading
import traceback
from concurrent import futures

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

import mneme_model_pb2 as pb
import mneme_model_pb2_grpc as pb_grpc

PROTOCOL = 1
MAX_RESULT = 64 << 20


class Invalid(Exception):
    """The input is wrong; the message reaches who sent it."""


class Model:
    """What a model may do. Methods are called from several threads at once.

    gone() is true once the caller no longer waits: ask it between steps.
    Rows answer the texts in order.
    """

    def info(self):
        """A pb.ModelInfo that claims the methods below that you wrote."""
        raise NotImplementedError

    def embed(self, texts, query, gone):
        """(float32 array [len(texts), dim], tokens read of each text)"""
        raise NotImplementedError

    def sparse(self, texts, query, gone):
        """([(terms that rise, weights above 0)] of each text, tokens read of each)"""
        raise NotImplementedError

    def rerank(self, query, texts, gone):
        """(scores in 0-1, how many texts did not fit the window)"""
        raise NotImplementedError

    def generate(self, question, sources, max_tokens, gone):
        """Yields parts of the answer; the last is (text, input tokens, output tokens)."""
        raise NotImplementedError

    def count_tokens(self, texts):
        """Word pieces of each text, without special tokens, prefix or cut."""
        raise NotImplementedError

    def token_ids(self, texts, query):
        """Lists of word pieces as the model reads them."""
        raise NotImplementedError


def _guarded(context, work):
    try:
        return work()
    except Invalid as e:
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(e))
    except NotImplementedError:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "this model does not do that")
    except MemoryError:
        context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "out of memory")
    except Exception as e:  # the caller gets a code, the log the reason
        print("ERROR", "".join(traceback.format_exception(e)), file=sys.stderr, flush=True)
        context.abort(grpc.StatusCode.INTERNAL, f"{type(e).__name__}: {e}")


def _rows(lists):
    offsets = [0]
    for row in lists:
        offsets.append(offsets[-1] + len(row))
    return offsets


class _Servicer(pb_grpc.ModelServicer):
    def __init__(self, model):
        self.model, self.described = model, model.info()

    def Describe(self, request, context):
        return self.described

    def Embed(self, request, context):
        def work():
            rows, tokens = self.model.embed(list(request.texts), request.kind == pb.TEXT_KIND_QUERY, lambda: not context.is_active())
            return pb.DenseBatch(dim=rows.shape[1], data=rows.astype("<f4").tobytes(), tokens=tokens)
        return _guarded(context, work)

    def Sparse(self, request, context):
        def work():
            rows, tokens = self.model.sparse(list(request.texts), request.kind == pb.TEXT_KIND_QUERY, lambda: not context.is_active())
            return pb.SparseBatch(row_offsets=_rows([t for t, _ in rows]), terms=[t for terms, _ in rows for t in terms],
                                  weights=[w for _, weights in rows for w in weights], tokens=tokens)
        return _guarded(context, work)

    def Rerank(self, request, context):
        def work():
            scores, truncated = self.model.rerank(request.query, list(request.texts), lambda: not context.is_active())
            return pb.ScoreBatch(scores=scores, truncated=truncated)
        return _guarded(context, work)

    def Generate(self, request, context):
        parts = _guarded(context, lambda: self.model.generate(request.question, request.sources, request.max_tokens, lambda: not context.is_active()))
        while True:
            part = _guarded(context, lambda: next(parts, None))
            if part is None:
                return
            if isinstance(part, tuple):
                yield pb.GenerateChunk(text=part[0], done=True, input_tokens=part[1], output_tokens=part[2])
                return
            yield pb.GenerateChunk(text=part)

    def CountTokens(self, request, context):
        return _guarded(context, lambda: pb.TokenCounts(counts=self.model.count_tokens(list(request.texts))))

    def TokenIds(self, request, context):
        def work():
            ids = self.model.token_ids(list(request.texts), request.kind == pb.TEXT_KIND_QUERY)
            return pb.TokenIdBatch(row_offsets=_rows(ids), ids=[i for row in ids for i in row])
        return _guarded(context, work)


def serve(model):
    """Serves until the host ends. load what is slow before calling it."""
    if os.environ.get("MNEME_MODEL_BACKEND") != "mneme.model":
        sys.exit("This is a model backend of Mneme and is not started by hand.\n"
                 f"Try it with: mneme models check --process {sys.argv[0]}")
    if str(PROTOCOL) not in os.environ.get("PLUGIN_PROTOCOL_VERSIONS", "").split(","):
        sys.exit(f"The host speaks protocol {os.environ.get('PLUGIN_PROTOCOL_VERSIONS')}, this backend {PROTOCOL}.")
    # More threads than the host makes calls, so that a health check never waits.
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=64), options=[("grpc.max_send_message_length", MAX_RESULT)])
    healthy = health.HealthServicer()
    healthy.set("plugin", health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
    pb_grpc.add_ModelServicer_to_server(_Servicer(model), server)
    path = os.path.join(os.environ["PLUGIN_UNIX_SOCKET_DIR"], "backend.sock")
    server.add_insecure_port("unix:" + path)
    server.start()
    print(f"1|{PROTOCOL}|unix|{path}|grpc", flush=True)
    # The standard input ends when the host wants this to end, and when the host
    # itself has ended, in whatever way.
    threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
    server.wait_for_termination()
