"""S3 by moto at a port. Its server looks whether an object is there and stores it later, so requests go one at a time."""

import sys
import threading

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import run_simple

application = DomainDispatcherApplication(create_backend_app)
lock = threading.Lock()


def one_at_a_time(environment, start_response):
    with lock:
        return list(application(environment, start_response))


run_simple("127.0.0.1", int(sys.argv[1]), one_at_a_time, threaded=True, request_handler=MotoRequestHandler)
