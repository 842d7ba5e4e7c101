import type { Environment } from './environment.ts';

/** What agents, their shells and the repository's own commands may see. Matched against the name in upper case. */
const allowed = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'TMP', 'TEMP', 'TZ', 'LANG', 'LANGUAGE', 'TERM'],
  ...['CI', 'NO_COLOR', 'FORCE_COLOR', 'XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_RUNTIME_DIR'],
  // marks what a run started, down to the last shell; its value is the run's state folder
  'NPC_RUN',
  // to install packages behind a mirror, a proxy or a company's certificate
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'],
  ...['GIT_SSL_CAINFO', 'CURL_CA_BUNDLE', 'REQUESTS_CA_BUNDLE', 'NPM_CONFIG_REGISTRY', 'NPM_CONFIG_CACHE'],
  ...[
    'NPM_CONFIG_USERCONFIG',
    'NPM_CONFIG_PREFIX',
    'NPM_CONFIG_CAFILE',
    'PIP_INDEX_URL',
    'PIP_CERT',
    'PIP_CONFIG_FILE',
  ],
  ...['GOPROXY', 'GOSUMDB', 'GONOSUMDB', 'GOFLAGS', 'MAVEN_OPTS', 'GRADLE_OPTS'],
  // to find a toolchain
  ...['GOPATH', 'GOROOT', 'GOCACHE', 'GOMODCACHE', 'CARGO_HOME', 'RUSTUP_HOME', 'RUSTUP_TOOLCHAIN', 'JAVA_HOME'],
  ...[
    'M2_HOME',
    'MAVEN_HOME',
    'GRADLE_HOME',
    'GRADLE_USER_HOME',
    'PYENV_ROOT',
    'VIRTUAL_ENV',
    'NVM_DIR',
    'LD_LIBRARY_PATH',
  ],
]);

const secretName = /TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|_KEY$|^KEY$|AUTH/i;
const loginInUrl = /:\/\/[^/\s@]+@/;

/**
 * The part of an environment that child processes get: an allow-list by name. A value of several lines is dropped (a filter by
 * name misses what hides in its later lines), and so is a URL that carries a login.
 */
export function childEnv(environment: Environment): Environment {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    const upper = name.toUpperCase();
    if (!allowed.has(upper) && !upper.startsWith('LC_')) continue;
    if (secretName.test(name) || /[\r\n\0]/.test(value) || loginInUrl.test(value)) continue;
    kept[name] = value;
  }
  return kept;
}
