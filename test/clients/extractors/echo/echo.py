"""An extractor that downloads nothing: it writes down, as metadata, which message it was given."""

import json

import pyclowder.datasets
import pyclowder.files
from pyclowder.connectors import PyClowderExtractionAbort
from pyclowder.extractors import Extractor
from pyclowder.utils import CheckMessage


class Echo(Extractor):
    def __init__(self):
        super().__init__()
        self.setup()

    def check_message(self, connector, host, secret_key, resource, parameters):
        return CheckMessage.bypass

    def process_message(self, connector, host, secret_key, resource, parameters):
        asked = parameters.get("parameters", {})
        if isinstance(asked, str):
            asked = json.loads(asked)
        if asked.get("abort"):
            raise PyClowderExtractionAbort("asked to fail")
        heard = {
            "type": resource["type"],
            "id": resource["id"],
            "activity": parameters["activity"],
            "routing_key": parameters["routing_key"],
            "action": parameters.get("action", ""),
            "parameters": asked,
        }
        metadata = self.get_metadata(heard, resource["type"], resource["id"], host)
        upload = pyclowder.datasets.upload_metadata if resource["type"] == "dataset" else pyclowder.files.upload_metadata
        upload(connector, host, secret_key, resource["id"], metadata)


if __name__ == "__main__":
    Echo().start()
