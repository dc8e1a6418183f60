import { publicEndpoint } from "../lib/http/public-endpoint.ts";
import { templateCsv } from "../lib/uploads/csv/template.ts";
import { uploadRoutes } from "./routes/uploads.ts";

/** `GET /v1/work_items/upload/template.csv` */
export const { create, handler } = publicEndpoint(uploadRoutes.getWorkItemUploadTemplate, {}, () => async () => ({
  body: templateCsv(),
  headers: { "content-disposition": 'attachment; filename="work_items.csv"', "cache-control": "public, max-age=300" },
}));
