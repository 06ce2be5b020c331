/** Every command there is, in the order of `fleetglass --help`. One file each. */
import type { Command } from 'commander'
import { defineApiserver } from './apiserver.ts'
import { defineBackup, defineRestore } from './backup.ts'
import { defineDemo } from './demo.ts'
import { defineDrift } from './drift.ts'
import { defineFleet } from './fleet.ts'
import { defineGate } from './gate.ts'
import { defineMigrate } from './migrate.ts'
import { defineSchema } from './schema.ts'
import { defineServe } from './serve.ts'
import { defineSyncer } from './syncer.ts'
import { defineToken } from './token.ts'

/** Adds a command to the program. `exitWith` sets the exit code; without it, success is 0. */
export type DefineCommand = (program: Command, exitWith: (exitCode: number) => void) => void

export const COMMANDS: readonly DefineCommand[] = [
  defineServe,
  defineDemo,
  defineDrift,
  defineFleet,
  defineGate,
  defineSchema,
  defineToken,
  defineApiserver,
  defineSyncer,
  defineMigrate,
  defineBackup,
  defineRestore,
]
