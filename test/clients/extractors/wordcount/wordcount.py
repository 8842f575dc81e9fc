"""An extractor of the usual kind: downloads a text, counts in it, adds metadata, a tag and a preview."""

import tempfile

import pyclowder.files
from pyclowder.extractors import Extractor


class WordCount(Extractor):
    def __init__(self):
        super().__init__()
        self.setup()

    def process_message(self, connector, host, secret_key, resource, parameters):
        with open(resource["local_paths"][0], encoding="utf-8") as file:
            text = file.read()
        counts = {"lines": text.count("\n"), "words": len(text.split()), "characters": len(text)}
        connector.message_process(resource, "Counted {words} words.".format(**counts))
        metadata = self.get_metadata(counts, "file", resource["id"], host)
        pyclowder.files.upload_metadata(connector, host, secret_key, resource["id"], metadata)
        tags = {"extractor_id": self.extractor_info["name"], "tags": ["counted"]}
        pyclowder.files.upload_tags(connector, host, secret_key, resource["id"], tags)
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as preview:
            preview.write(text[:20])
            preview.flush()
            pyclowder.files.upload_preview(connector, host, secret_key, resource["id"], preview.name, {"title": "beginning"}, "text/plain")


if __name__ == "__main__":
    WordCount().start()
