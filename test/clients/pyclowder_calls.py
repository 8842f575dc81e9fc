"""Calls functions of pyclowder as they are: one JSON line in, one JSON line out.

In:  {"call": "datasets.get_info", "host": ..., "key": ..., "arguments": [...]}
Out: {"result": ..., "messages": [...]} or {"error": ..., "status": ..., "body": ...}

"client.get" and the like are methods of a ClowderClient. What pyclowder itself cannot do is {"error": ..., "kind": "TypeError"}.
"""

import json
import sys

import pyclowder.collections
import pyclowder.datasets
import pyclowder.files
import pyclowder.geostreams
import pyclowder.sections
import requests
from pyclowder.client import ClowderClient
from pyclowder.connectors import Connector
from pyclowder.extractors import Extractor

INFO = {"name": "test.words", "version": "1.2", "contexts": [{"words": "http://example.org/words"}]}
MODULES = {
    "files": pyclowder.files,
    "datasets": pyclowder.datasets,
    "collections": pyclowder.collections,
    "sections": pyclowder.sections,
    "geostreams": pyclowder.geostreams,
}


class Recorder(Connector):
    """The connector of a job, without a broker behind it: status messages are kept instead of sent."""

    def __init__(self):
        super().__init__(INFO["name"], INFO)
        self.messages = []

    def status_update(self, status, resource, message):
        self.messages.append({"status": str(status), "type": resource["type"], "id": resource["id"], "message": message})


def document(content, kind, target, host):
    """The metadata document that an extractor of this name would send."""
    extractor = Extractor.__new__(Extractor)
    extractor.extractor_info = INFO
    return extractor.get_metadata(content, kind, target, host, INFO["contexts"])


def answer(request):
    if request["call"] == "document":
        return {"result": document(*request["arguments"], request["host"]), "messages": []}
    module, function = request["call"].split(".")
    connector = Recorder()
    try:
        if module == "client":
            client = ClowderClient(host=request["host"], key=request["key"])
            result = getattr(client, function)(*request["arguments"])
        else:
            result = getattr(MODULES[module], function)(connector, request["host"], request["key"], *request["arguments"])
        return {"result": result, "messages": connector.messages}
    except requests.HTTPError as error:
        return {"error": str(error), "status": error.response.status_code, "body": error.response.text}
    except (AttributeError, TypeError) as error:
        return {"error": str(error), "kind": type(error).__name__}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
