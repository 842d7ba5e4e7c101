import { type AddressInfo, createServer, type Server } from 'node:net';
import { AppError } from '../base/errors.ts';

/** Throws as {@link listen} does where a hub could not listen, before anything is made for it. */
export async function checkAddress(host: string, port: number): Promise<void> {
  const server = createServer();
  await listen(server, host, port);
  await new Promise((resolve) => server.close(resolve));
}

/** Listens there; returns the port. Throws `AppError('port_in_use')`, and `usage` where nobody can listen there. */
export async function listen(server: Server, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(listenError(error, host, port));
    });
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Why nobody can listen there, as something a person can mend; other faults as they are. */
function listenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const cause = { cause: error };
  switch (error.code) {
    case 'EADDRINUSE':
      return new AppError(
        'port_in_use',
        `port ${port} on ${host} is in use; choose another one, or 0 for a free one`,
        cause,
      );
    case 'EACCES':
    case 'EPERM':
      return new AppError(
        'usage',
        `this user may not listen on port ${port}; choose one above 1023, or 0 for a free one`,
        cause,
      );
    case 'EADDRNOTAVAIL':
      return new AppError(
        'usage',
        `${host} is no address of this machine; 127.0.0.1 is, and 0.0.0.0 means all of them`,
        cause,
      );
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return new AppError(
        'usage',
        `"${host}" is no address to listen on; one looks like 127.0.0.1, ::1 or localhost`,
        cause,
      );
    default:
      return error;
  }
}
