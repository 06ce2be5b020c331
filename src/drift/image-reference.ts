/**
 * What an image reference names: registry, repository, tag, digest; and the key to compare it by.
 *
 * Docker Hub's short forms become one key, so that `nginx` and `docker.io/library/nginx:latest` are
 * the same. What cannot be parsed keeps its text as its key: it is flagged, never dropped.
 *
 * @see github.com/distribution/reference: the grammar this follows.
 */

export interface ImageReference {
  readonly kind: 'reference'
  /** `registry/path`: what is compared with what. */
  readonly key: string
  readonly registry: string
  readonly path: string
  readonly tag?: string
  /** Lower case, `algorithm:hex`. */
  readonly digest?: string
  /** What is pulled: the digest if there is one, else the tag, else `latest`. */
  readonly token: string
}

/** `image-id`: 64 hex digits name an image on one node only. */
export interface UnusableImage {
  readonly kind: 'image-id' | 'invalid'
  readonly raw: string
}

const IMAGE_ID = /^(?:sha256:)?[0-9a-f]{64}$/i
const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/
const DIGEST = /^[A-Za-z0-9]+(?:[+._-][A-Za-z0-9]+)*:[0-9a-fA-F]{32,}$/
const PATH = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/
const PATH_MOST_CHARACTERS = 255
const REGISTRY =
  /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*|\[[0-9A-Fa-f:.]+\])(?::\d+)?$/
const DOCKER_HUB = 'docker.io'

/** Never throws, whatever the text is. */
export function parseImageReference(given: string): ImageReference | UnusableImage {
  const raw = given.trim()
  if (IMAGE_ID.test(raw)) return { kind: 'image-id', raw }
  const at = raw.indexOf('@')
  const digest = at < 0 ? undefined : raw.slice(at + 1).toLowerCase()
  const { name, tag } = splitTag(at < 0 ? raw : raw.slice(0, at))
  const { registry, path } = splitRegistry(name)
  const isValid =
    PATH.test(path) &&
    path.length <= PATH_MOST_CHARACTERS &&
    REGISTRY.test(registry) &&
    (tag === undefined || TAG.test(tag)) &&
    (digest === undefined || DIGEST.test(digest))
  if (!isValid) return { kind: 'invalid', raw }
  return {
    ...{ kind: 'reference', key: `${registry}/${path}`, registry, path },
    ...(tag !== undefined && { tag }),
    ...(digest !== undefined && { digest }),
    token: digest ?? tag ?? 'latest',
  }
}

/** A colon before the last slash is a registry's port. */
function splitTag(text: string): { readonly name: string; readonly tag?: string } {
  const colon = text.indexOf(':', text.lastIndexOf('/') + 1)
  return colon < 0 ? { name: text } : { name: text.slice(0, colon), tag: text.slice(colon + 1) }
}

function splitRegistry(name: string): { readonly registry: string; readonly path: string } {
  const slash = name.indexOf('/')
  const first = name.slice(0, Math.max(slash, 0))
  if (!isRegistry(first)) return { registry: DOCKER_HUB, path: hubPath(name) }
  const path = name.slice(slash + 1)
  // Host names are the same in any case; a word without a dot is one by its capitals alone.
  const registry = /[.:]/.test(first) ? first.toLowerCase() : first
  if (registry !== DOCKER_HUB && registry !== 'index.docker.io') return { registry, path }
  return { registry: DOCKER_HUB, path: hubPath(path) }
}

function isRegistry(segment: string): boolean {
  return /[.:A-Z]/.test(segment) || segment === 'localhost'
}

function hubPath(path: string): string {
  return path.includes('/') || path === '' ? path : `library/${path}`
}

/**
 * The registry's digest in a container status's `imageID`, such as
 * `docker-pullable://nginx@sha256:…`. Undefined for a bare `sha256:…`: that is the digest of a
 * configuration, which differs between runtimes for one image.
 */
export function resolvedDigest(imageId: string): string | undefined {
  const digest = imageId.slice(imageId.lastIndexOf('@') + 1).toLowerCase()
  return imageId.includes('@') && DIGEST.test(digest) ? digest : undefined
}
