"""Uses the client that openapi-python-client has made, and verifies a webhook's messages by the public library."""

import os, sys, threading
from http.server import BaseHTTPRequestHandler, HTTPServer

sys.path.insert(0, os.environ["CLIENTS"])
from standardwebhooks import Webhook
from work_items import AuthenticatedClient, models
from work_items.api.service import get_me
from work_items.api.uploads import get_work_item_upload, list_work_item_uploads, upload_work_items
from work_items.api.webhooks import create_webhook, delete_webhook, list_webhooks, test_webhook
from work_items.api.work_items import apply_work_item_batch, get_work_item, list_work_item_changes, list_work_items
from work_items.types import File

client = AuthenticatedClient(
    base_url=os.environ["BASE_URL"], token=os.environ["API_KEY"], raise_on_unexpected_status=True
)
assert get_me.sync(client=client).data.organization

batch = {"work_items": [{"external_id": "python-1", "custom_attributes": {"tier": "gold"}}]}
results = apply_work_item_batch.sync(
    client=client, body=models.ApplyWorkItemBatchRequest.from_dict(batch)
).data.results
assert results[0].status == "later", results
item = get_work_item.sync(results[0].data.id, client=client).data
assert (item.external_id, item.custom_attributes["tier"]) == ("python-1", "gold")
assert item.additional_properties["later"], item
assert list_work_items.sync(client=client, external_id="python-1").data[0].id == item.id
assert any(change.external_id == "python-1" for change in list_work_item_changes.sync(client=client).data)

file = File(payload=open(os.environ["FILE"], "rb"), file_name="items.csv", mime_type="text/csv")
job = upload_work_items.sync(client=client, body=models.UploadWorkItemsFilesBody(uploadfile=file)).data
assert get_work_item_upload.sync(job.id, client=client).data.status == "later"
assert any(each.id == job.id for each in list_work_item_uploads.sync(client=client).data)

received = []


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        received.append(Webhook(secret).verify(body, dict(self.headers)))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *arguments):
        pass


server = HTTPServer(("localhost", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
request = models.CreateWebhookRequest.from_dict({"webhook": {"url": f"http://localhost:{server.server_port}/hook"}})
webhook = create_webhook.sync(client=client, body=request).data
secret = webhook.secret
assert test_webhook.sync(webhook.id, client=client).data.status == 204
assert [message["type"] for message in received] == ["webhook.test"], received
assert list_webhooks.sync(client=client).data[0].status == "later"
delete_webhook.sync(webhook.id, client=client)
print("python client: used")
