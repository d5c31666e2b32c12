// Node's own `import`: compiled code (compile.js) has none.
module.exports = (url) => import(url)
