/** Certificates for tests of TLS, made by openssl. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Makes, in a folder: a CA (`ca`), what it issues to a server and to clients, and a client of a CA
 * that nobody knows. `NAME.crt` and `NAME.key`, in PEM.
 */
export function makeCertificates(folder: string): void {
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  for (const ca of ['ca', 'stranger']) {
    openssl(
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-subj',
      `/CN=${ca}`,
      '-days',
      '2',
      '-keyout',
      `${ca}.key`,
      '-out',
      `${ca}.crt`,
    )
  }
  const issue = (name: string, subject: string, ca: string) => {
    openssl(
      'req',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-subj',
      subject,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.csr`,
    )
    writeFileSync(join(folder, 'ext'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n')
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      `${ca}.crt`,
      '-CAkey',
      `${ca}.key`,
      '-CAcreateserial',
      '-days',
      '2',
      '-extfile',
      'ext',
      '-out',
      `${name}.crt`,
    )
  }
  issue('server', '/CN=localhost', 'ca')
  issue('admin', '/O=system:masters/O=ops/CN=admin', 'ca')
  issue('alone', '/CN=alone', 'ca')
  issue('nameless', '/O=system:masters', 'ca')
  issue('forged', '/O=system:masters/CN=admin', 'stranger')
}
