import type { ServerResponse } from 'node:http';
import { type Refusal, told } from '../refusal.ts';

/** Nobody between keeps an answer, guesses its type, or shows it inside another site's page. */
export function setCommonHeaders(response: ServerResponse): void {
  response.setHeader('cache-control', 'no-store');
  response.setHeader('x-content-type-options', 'nosniff');
  response.setHeader('cross-origin-resource-policy', 'same-origin');
}

/** Answers with JSON on one line. */
export function sendJson(response: ServerResponse, value: unknown, status = 200): undefined {
  send(response, status, 'application/json', `${JSON.stringify(value)}\n`);
}

/** Answers with text. */
export function sendText(response: ServerResponse, text: string, type = 'text/plain; charset=utf-8'): undefined {
  send(response, 200, type, text);
}

/** Answers why not. */
export function sendRefusal(response: ServerResponse, refusal: Refusal): void {
  const { headers, body } = told(refusal);
  response.writeHead(refusal.status, headers).end(body);
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) }).end(body);
}
