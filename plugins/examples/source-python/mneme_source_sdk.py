"""Serves connectors to Mneme by the connector protocol, over grpcio.

Write a class with the methods of Connector for your kind of source, and call
serve(name, version, connector...). Everything else stands here: the handshake, the
health service, the way out when the host ends, renewed secrets, and the errors.
"""

import itertools
import json
import os
import queue
import sys
import threading
import traceback
from concurrent import futures

import grpc
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_status import rpc_status

import mneme_source_pb2 as pb
import mneme_source_pb2_grpc as pb_grpc

PROTOCOL = 1
MAX_MESSAGE = 4 << 20
CHUNK = 256 << 10
RENEW_SECONDS = 30

CODES = {
    "config": grpc.StatusCode.INVALID_ARGUMENT,
    "credentials": grpc.StatusCode.UNAUTHENTICATED,
    "forbidden": grpc.StatusCode.PERMISSION_DENIED,
    "not_found": grpc.StatusCode.NOT_FOUND,
    "too_large": grpc.StatusCode.OUT_OF_RANGE,
    "rate_limited": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "unavailable": grpc.StatusCode.UNAVAILABLE,
    "skipped": grpc.StatusCode.FAILED_PRECONDITION,
}


class Error(Exception):
    """Why a source or an item can't be read.

    code is one of CODES. The message reaches the person who configured the source and holds
    no secret. retry_after is in seconds, 0: no word of it.
    """

    def __init__(self, code, message, retry_after=0):
        super().__init__(message)
        self.code, self.retry_after = code, retry_after


class Connection:
    """What one call works with. It is good for that call alone."""

    def __init__(self, wire, renewals):
        self.config, self.secrets = json.loads(wire.config or b"{}"), dict(wire.secrets)
        self.source = wire.source
        self._call, self._renewals = wire.call, renewals

    def renew(self, secrets):
        """Returns once the host has kept secrets that replace those of this connection."""
        self._renewals.renew(self._call, secrets)


class Connector:
    """One kind of source. Methods are called from several threads at once.

    gone() is true once the caller no longer waits: ask it between steps.
    """

    def kind(self):
        """A pb.Kind."""
        raise NotImplementedError

    def check(self, connection, gone):
        """[(field, what is wrong with it)], as in ("config.url", "is no address")."""
        raise NotImplementedError

    def list(self, connection, state, gone):
        """Yields pb.Item, pb.Gone, pb.Checkpoint, pb.Problem, and pb.Complete as the last.

        state is the bytes of an earlier checkpoint, or None for everything.
        """
        raise NotImplementedError

    def fetch(self, connection, item, gone):
        """(pb.Content without data, the data or an iterator of its parts)"""
        raise NotImplementedError

    def revoke(self, connection):
        """Gives a grant back to the upstream."""
        raise NotImplementedError


class _Renewals:
    """Secrets on their way to the host. They wait for its stream, and for its answer."""

    def __init__(self):
        self.out, self.numbers = queue.Queue(), itertools.count(1)
        self.waiting, self.lock = {}, threading.Lock()

    def renew(self, call, secrets):
        number, answer = next(self.numbers), queue.Queue(1)
        with self.lock:
            self.waiting[number] = answer
        self.out.put(pb.Renewed(number=number, call=call, secrets=secrets))
        try:
            error = answer.get(timeout=RENEW_SECONDS)
        except queue.Empty:
            error = "the host did not say that renewed secrets are kept"
        finally:
            with self.lock:
                self.waiting.pop(number, None)
        if error:
            raise Error("unavailable", error)

    def stream(self, answers, context):
        def read():
            try:
                for kept in answers:
                    with self.lock:
                        answer = self.waiting.pop(kept.number, None)
                    if answer:
                        answer.put(kept.error)
            except grpc.RpcError:
                pass  # the stream has ended; the host opens another
            self.out.put(None)

        threading.Thread(target=read, daemon=True).start()
        while context.is_active():
            one = self.out.get()
            if one is None:
                return
            yield one


def _abort(context, error):
    code = CODES.get(error.code, grpc.StatusCode.UNAVAILABLE)
    if error.retry_after <= 0:
        context.abort(code, str(error))
    detail = any_pb2.Any()
    detail.Pack(error_details_pb2.RetryInfo(retry_delay=duration_pb2.Duration(seconds=int(error.retry_after))))
    context.abort_with_status(rpc_status.to_status(status_pb2.Status(code=code.value[0], message=str(error), details=[detail])))


def _guarded(context, work):
    try:
        return work()
    except Error as e:
        _abort(context, e)
    except NotImplementedError:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "this connector does not do that")
    except Exception as e:  # the caller gets a code, the log the reason
        print("ERROR", "".join(traceback.format_exception(e)), file=sys.stderr, flush=True)
        context.abort(grpc.StatusCode.INTERNAL, type(e).__name__)


_EVENTS = {pb.Item: "item", pb.Gone: "gone", pb.Checkpoint: "checkpoint", pb.Problem: "problem", pb.Complete: "complete"}


class _Servicer(pb_grpc.ConnectorServicer):
    def __init__(self, name, version, connectors):
        self.connectors = {c.kind().name: c for c in connectors}
        self.described = pb.ConnectorInfo(name=name, version=version, kinds=[c.kind() for c in connectors], renews=True)
        self.renewals = _Renewals()

    def _open(self, request, context):
        connector = self.connectors.get(request.connection.kind)
        if connector is None:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, "this program has no such kind")
        return connector, Connection(request.connection, self.renewals), lambda: not context.is_active()

    def Describe(self, request, context):
        return self.described

    def Check(self, request, context):
        def work():
            connector, connection, gone = self._open(request, context)
            return pb.CheckReport(problems=[pb.FieldProblem(field=f, message=m) for f, m in connector.check(connection, gone)])
        return _guarded(context, work)

    def List(self, request, context):
        def begin():
            connector, connection, gone = self._open(request, context)
            return iter(connector.list(connection, request.state or None, gone))
        events = _guarded(context, begin)
        while True:
            one = _guarded(context, lambda: next(events, None))
            if one is None:
                return
            yield pb.ListEvent(**{_EVENTS[type(one)]: one})

    def Fetch(self, request, context):
        def begin():
            connector, connection, gone = self._open(request, context)
            head, data = connector.fetch(connection, request.item, gone)
            parts = [data[i:i + CHUNK] for i in range(0, len(data), CHUNK)] if isinstance(data, bytes) else data
            return head, iter(parts)
        head, parts = _guarded(context, begin)
        yield pb.FetchChunk(head=head)
        while True:
            part = _guarded(context, lambda: next(parts, None))
            if part is None:
                return
            yield pb.FetchChunk(data=part)

    def Revoke(self, request, context):
        def work():
            connector, connection, _ = self._open(request, context)
            connector.revoke(connection)
            return pb.RevokeReport()
        return _guarded(context, work)

    def Renew(self, answers, context):
        yield from self.renewals.stream(answers, context)


def serve(name, version, *connectors):
    """Serves until the host ends. It does not return."""
    if os.environ.get("MNEME_SOURCE_CONNECTOR") != "mneme.source":
        sys.exit("This is a connector of Mneme and is not started by hand.\n"
                 "An operator names it below sources.plugins.")
    if str(PROTOCOL) not in os.environ.get("PLUGIN_PROTOCOL_VERSIONS", "").split(","):
        sys.exit(f"The host speaks protocol {os.environ.get('PLUGIN_PROTOCOL_VERSIONS')}, this connector {PROTOCOL}.")
    # More threads than the host makes calls, so that a health check never waits.
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=256), options=[
        ("grpc.max_send_message_length", MAX_MESSAGE), ("grpc.max_receive_message_length", MAX_MESSAGE)])
    healthy = health.HealthServicer()
    healthy.set("plugin", health_pb2.HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(healthy, server)
    pb_grpc.add_ConnectorServicer_to_server(_Servicer(name, version, connectors), server)
    path = os.path.join(os.environ["PLUGIN_UNIX_SOCKET_DIR"], "connector.sock")
    server.add_insecure_port("unix:" + path)
    server.start()
    print(f"1|{PROTOCOL}|unix|{path}|grpc", flush=True)
    # The standard input ends when the host wants this to end, and when the host
    # itself has ended, in whatever way.
    threading.Thread(target=lambda: (sys.stdin.buffer.read(), os._exit(0)), daemon=True).start()
    server.wait_for_termination()
