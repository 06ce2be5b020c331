/**
 * YAML that somebody else wrote → a document, in bounded time.
 *
 * The parser keeps every token in memory, and composes deep and faulty texts in more than linear
 * time: three megabytes of `[` keep a process busy for ten minutes. The lexer is lazy and linear,
 * so a text that has too many tokens is refused before it is parsed.
 */
import {
  type Document,
  type DocumentOptions,
  Lexer,
  LineCounter,
  type ParseOptions,
  parseDocument,
  type SchemaOptions,
} from 'yaml'

/** Ten thousand lines of a manifest or kubeconfig: half a second, were they all faulty. */
export const YAML_TOKENS_MOST = 50_000

/** @throws `SyntaxError`, fit for whoever sent the text: it says where, and may quote a word of it. */
export function yamlDocument(
  text: string,
  options: ParseOptions & DocumentOptions & SchemaOptions = {},
): Document.Parsed {
  refuseMany(text)
  const lineCounter = new LineCounter()
  // Pretty errors quote the line, once for each error: with one long line, that is all of the text.
  const document = parseDocument(text, { ...options, lineCounter, prettyErrors: false })
  const [error] = document.errors
  if (!error) return document
  const { line } = lineCounter.linePos(error.pos[0])
  throw new SyntaxError(`yaml: line ${Math.max(1, line)}: ${error.message.split('\n')[0]}`)
}

/** @throws as {@link yamlDocument}, and for aliases that stand for too much. */
export function yamlValue(text: string): unknown {
  const document = yamlDocument(text)
  try {
    return document.toJS()
  } catch (error) {
    // The parser has no error of its own here: aliases by the million, unknown ones, loops.
    throw new SyntaxError('yaml: its aliases cannot be resolved', { cause: error })
  }
}

function refuseMany(text: string): void {
  let tokens = 0
  for (const _token of new Lexer().lex(text)) {
    if (++tokens <= YAML_TOKENS_MOST) continue
    throw new SyntaxError(`yaml: more than ${YAML_TOKENS_MOST} tokens; larger texts must be JSON`)
  }
}
