// The module `portage/plugin`, which plug-in packages import (package.json, `exports`).
export { plugin } from '../kit/plugin.ts'
export type {
  AuthorDevnet,
  Call,
  CallRule,
  Message,
  Next,
  Plugin,
  PluginContext,
  PluginPackage,
  Route,
  RouteEmitter,
  Shown,
  SignedMessage,
  Stage,
  Target,
} from '../kit/plugin.ts'
export { z } from 'zod'
