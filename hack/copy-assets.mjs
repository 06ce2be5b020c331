/** Puts what the compiler leaves out (recorded objects, column tables) beside the compiled code. */
import { cpSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
cpSync(join(root, 'src'), join(root, 'dist'), {
  recursive: true,
  filter: (path) => !['.ts', '.md'].includes(extname(path)),
})
