// Uses the client that oapi-codegen has made.
package main

import (
	"bytes"
	"context"
	"fmt"
	"mime/multipart"
	"net/http"
	"os"
)

func check(what string, isGood bool, detail any) {
	if !isGood {
		fmt.Println("go client:", what, detail)
		os.Exit(1)
	}
}

func main() {
	ctx := context.Background()
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
		return nil
	}
	client, err := NewClientWithResponses(os.Getenv("BASE_URL"), WithRequestEditorFn(authorize))
	check("client", err == nil, err)

	batch := ApplyWorkItemBatchRequest{WorkItems: []WorkItemInput{{ExternalId: "go-1"}}}
	applied, err := client.ApplyWorkItemBatchWithResponse(ctx, batch)
	check("batch", err == nil && applied.JSON200 != nil && applied.JSON200.Data.Results[0].Status == "later", err)

	name := "go-1"
	list, err := client.ListWorkItemsWithResponse(ctx, &ListWorkItemsParams{ExternalId: &name})
	check("list", err == nil && list.JSON200 != nil && len(list.JSON200.Data) == 1, err)
	item, err := client.GetWorkItemWithResponse(ctx, list.JSON200.Data[0].Id, nil)
	check("item", err == nil && item.JSON200 != nil && item.JSON200.Data.ExternalId == name, err)
	changes, err := client.ListWorkItemChangesWithResponse(ctx, &ListWorkItemChangesParams{})
	check("changes", err == nil && changes.JSON200 != nil && len(changes.JSON200.Data) > 0, err)

	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	part, _ := parts.CreateFormFile("upload[file]", "items.csv")
	file, err := os.ReadFile(os.Getenv("FILE"))
	check("file", err == nil, err)
	part.Write(file)
	parts.Close()
	upload, err := client.UploadWorkItemsWithBodyWithResponse(ctx, nil, parts.FormDataContentType(), &form)
	check("upload", err == nil && upload.JSON202 != nil, err)
	job, err := client.GetWorkItemUploadWithResponse(ctx, upload.JSON202.Data.Id, nil)
	check("job", err == nil && job.JSON200 != nil && job.JSON200.Data.Status == "later", err)
	webhooks, err := client.ListWebhooksWithResponse(ctx, nil)
	check("webhooks", err == nil && webhooks.JSON200 != nil, err)
	fmt.Println("go client: used")
}
