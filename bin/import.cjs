// Node's own `import`. Compiled code (compile.js) has no `import` of its own.
module.exports = (url) => import(url)
