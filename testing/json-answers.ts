import type { ServerResponse } from 'node:http';

/** Answers with JSON. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** Answers with an error in OpenAI's form. */
export function sendError(response: ServerResponse, status: number, message: string, code: string | null): void {
  sendJson(response, status, { error: { message, type: code ?? 'scripted_fault', code } });
}
