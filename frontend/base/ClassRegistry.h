// Registry of user classes and functions of one kind (layers, activations), by their names in files.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "frontend/base/ConfigFields.h"
#include "frontend/base/UniqueNames.h"
#include "halftone/Error.h"
#include "runtime/base/ForkGate.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace halftone::detail {

/// The terms for a kind in messages.
struct KindWords {
  const char *kind;        // "layer"
  const char *method;      // "call()": the method that a struct of this kind must have; "" for functions
  const char *call;        // "register_custom": the template that registers a struct
  bool isFunction = false; // functions have no config, and several packages may have functions of the same name
};

/// A registry. Safe to use from several threads. `Make` creates an object from a config; for functions it is the
/// function itself.
template <class Make> class ClassRegistry {
public:
  explicit ClassRegistry(KindWords words) : words_(words) {}
  /// Registers a class or function. value_error unless the name is "package>Class" or "Class", for an empty function,
  /// or for a class that another package has registered. Registering an existing name replaces its entry.
  void add(const std::string &registeredName, Make make) {
    const size_t end = registeredName.find('>');
    if (registeredName.empty() || end == 0 || end + 1 == registeredName.size())
      throw Error(ErrorKind::value_error,
                  fmt::format("A {} of the kind {} is registered as \"package>{}\" or \"{}\". Received: "
                              "registered_name={}",
                              words_.isFunction ? "function" : "class", words_.kind,
                              words_.isFunction ? "name" : "Class", words_.isFunction ? "name" : "Class",
                              registeredName));
    requireNameInUtf8(words_.isFunction ? "The name of a function" : "The name of a class", registeredName);
    if constexpr (requires { !make; })
      if (!make)
        throw Error(ErrorKind::value_error,
                    fmt::format("register_{0}() needs a function that creates the {0}", words_.kind));
    const ForkSafeLock lock(mutex_);
    for (const auto &[name, existing] : makers_)
      if (!words_.isFunction && name != registeredName && hasPackage(name) && hasPackage(registeredName) &&
          classOf(name) == classOf(registeredName))
        throw Error(ErrorKind::value_error,
                    fmt::format("The class '{}' is already registered as '{}'. Received: registered_name={}",
                                classOf(name), name, registeredName));
    makers_[registeredName] = std::move(make);
  }
  bool has(const std::string &registeredName) const {
    const ForkSafeLock lock(mutex_);
    return makers_.contains(registeredName);
  }
  std::optional<Make> find(const std::string &registeredName) const {
    const ForkSafeLock lock(mutex_);
    const auto found = makers_.find(registeredName);
    return found == makers_.end() ? std::nullopt : std::optional<Make>(found->second);
  }
  /// The first name of an object for which `holds` returns true, with names that have a package first; nullopt if there
  /// is none.
  template <class F> std::optional<std::string> nameIf(F holds) const {
    const ForkSafeLock lock(mutex_);
    std::optional<std::string> found;
    for (const auto &[name, object] : makers_)
      if (holds(name, object) && (!found || (hasPackage(name) && !hasPackage(*found))))
        found = name;
    return found;
  }
  std::vector<std::string> names() const {
    const ForkSafeLock lock(mutex_);
    std::vector<std::string> all;
    for (const auto &[name, object] : makers_)
      all.push_back(name);
    return all;
  }
  /// The maker of a class. value_error, which tells how to register the class, if it is not registered.
  Make factoryOf(const std::string &registeredName) const {
    if (const std::optional<Make> found = find(registeredName))
      return *found;
    const std::string className = classOf(registeredName), package = packageOf(registeredName);
    throw Error(ErrorKind::value_error,
                fmt::format("Could not locate class '{0}', {1}. Before loading, register a struct {0} with {2} and a "
                            "static from_config(): {3}<{0}>({4}). Registered: [{5}]",
                            className,
                            package.empty() ? "a user-defined class in Python"
                                            : fmt::format("which a user registered in Python as '{}'", registeredName),
                            words_.method, words_.call, package.empty() ? "" : fmt::format("\"{}\"", package),
                            fmt::join(names(), ", ")));
  }
  /// The registered name of the class, preferring one with a package; nullopt if it is not registered.
  std::optional<std::string> nameOf(const std::string &className) const {
    return nameIf([&className](const std::string &name, const Make &) { return classOf(name) == className; });
  }
  const KindWords &words() const { return words_; }

private:
  static bool hasPackage(const std::string &name) { return name.find('>') != std::string::npos; }
  static std::string packageOf(const std::string &name) {
    return hasPackage(name) ? name.substr(0, name.find('>')) : "";
  }
  static std::string classOf(const std::string &registeredName) {
    return registeredName.substr(registeredName.find('>') + 1);
  }
  KindWords words_;
  mutable std::mutex mutex_;
  std::map<std::string, Make> makers_; // guarded by mutex_
};

/// The registry of functions of the kind of T: activations or losses.
template <class T> ClassRegistry<T> &functionsOf();
/// The config of a function as Keras saves it, by its registered name.
Config savedFunction(const std::string &registeredName);
/// The name of such a function, or "" for a config of anything else.
std::string functionIn(const Config &config);

/// The registry of initializers, regularizers or constraints.
template <class T> ClassRegistry<std::function<T(const Config &)>> &registryOf();
template <> ClassRegistry<std::function<Initializer(const Config &)>> &registryOf<Initializer>();
template <> ClassRegistry<std::function<Regularizer(const Config &)>> &registryOf<Regularizer>();
template <> ClassRegistry<std::function<Constraint(const Config &)>> &registryOf<Constraint>();

/// The config of a user's object. value_error for a function, which a config cannot hold; `what`, such as "A
/// constraint", begins the message.
Config customConfig(const CustomObject &object, const char *what);

/// The config of an object as Keras saves it: an object of Keras's `module`, or of a registered user class if
/// `isCustom`. value_error for an unregistered user class.
template <class T> Config savedAs(const T &object, const char *module, bool isCustom) {
  if (!isCustom)
    return serializedObject(module, object.name(), object.get_config());
  const Config fields = object.get_config();
  const std::optional<std::string> registered = registryOf<T>().nameOf(object.name());
  if (!registered)
    throw Error(ErrorKind::value_error,
                fmt::format("No config can hold a {0} of class {1}: register it with {2}<{1}>(\"package\")",
                            registryOf<T>().words().kind, object.name(), registryOf<T>().words().call));
  Config saved = serializedObject("", object.name(), fields);
  saved.set_null("module");
  saved.set("registered_name", *registered);
  return saved;
}
/// The object of a registered class; nullopt if the config is that of a Keras class.
template <class T> std::optional<T> registeredObject(const Config &config) {
  std::string registered = registeredNameIn(config);
  if (registered.empty())
    registered = foreignClassIn(config);
  if (registered.empty())
    return std::nullopt;
  return registryOf<T>().factoryOf(registered)(config.get_object("config"));
}

} // namespace halftone::detail
