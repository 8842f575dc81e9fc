"""An extractor of datasets that has the library download everything first, and lists what came."""

import os

import pyclowder.datasets
from pyclowder.extractors import Extractor


class Inventory(Extractor):
    def __init__(self):
        super().__init__()
        self.setup()

    def process_message(self, connector, host, secret_key, resource, parameters):
        sizes = {os.path.basename(path): os.path.getsize(path) for path in resource["local_paths"]}
        listed = [file["filename"] for file in resource["files"]]
        metadata = self.get_metadata({"sizes": sizes, "listed": sorted(listed)}, "dataset", resource["id"], host)
        pyclowder.datasets.upload_metadata(connector, host, secret_key, resource["id"], metadata)


if __name__ == "__main__":
    Inventory().start()
