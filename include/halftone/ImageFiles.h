// Images in files: PNG and JPEG as Tensors, and datasets of the images in a folder, named as in keras.utils.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "Choice.h"
#include "Data.h"
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace halftone {
/// Three channels, four with opacity, or one.
enum class ColorMode : uint8_t { rgb, rgba, grayscale };
/// How the pixels of an image become those of another size, as Pillow computes them: the nearest one, or a weighted mean of those
/// that a new pixel covers.
enum class Resample : uint8_t { nearest, bilinear, bicubic, hamming, box, lanczos };
/// What a dataset gives beside images: int32 indices of classes, float32 vectors with a 1, float32 0 or 1, or nothing.
enum class LabelMode : uint8_t { integer, categorical, binary, none };
/// Which part of a folder's images a dataset has; `none` are all.
enum class Subset : uint8_t { none, training, validation, both };
namespace detail {
template <> inline constexpr const char *choice_words<ColorMode>[] = {"rgb", "rgba", "grayscale"};
template <>
inline constexpr const char *choice_words<Resample>[] = {"nearest", "bilinear", "bicubic", "hamming", "box", "lanczos"};
template <> inline constexpr const char *choice_words<LabelMode>[] = {"int", "categorical", "binary", "none"};
template <> inline constexpr const char *choice_words<Subset>[] = {"none", "training", "validation", "both"};
} // namespace detail

/// "inferred": the index of the folder in which an image lies; none; or a class for each file in the order of the files.
class ImageLabels {
public:
  template <size_t N> consteval ImageLabels(const char (&word)[N]) {
    if (std::string_view(word, N - 1) != "inferred")
      detail::this_word_is_not_one_of_the_words_of_the_argument();
  }
  ImageLabels(std::nullopt_t) : areNone_(true) {}
  ImageLabels(std::vector<int64_t> classes) : classes_(std::move(classes)) {}
  ImageLabels(std::initializer_list<int64_t> classes) : classes_(classes) {}
  bool are_none() const { return areNone_; }
  const std::optional<std::vector<int64_t>> &classes() const { return classes_; }

private:
  bool areNone_ = false;
  std::optional<std::vector<int64_t>> classes_{};
};

/// A Dataset of images, with the names of its classes, and the files in the order before the dataset shuffles them.
class HALFTONE_API ImageDataset : public Dataset {
public:
  ImageDataset(Dataset dataset, std::vector<std::string> class_names, std::vector<std::string> file_paths);
  const std::vector<std::string> &class_names() const { return classNames_; } // empty without labels
  const std::vector<std::string> &file_paths() const { return filePaths_; }

private:
  std::vector<std::string> classNames_, filePaths_;
};

namespace utils {
struct LoadImgArgs {
  Choice<ColorMode> color_mode = ColorMode::rgb;
  std::optional<std::array<int64_t, 2>> target_size{}; // height and width
  Choice<Resample> interpolation = Resample::nearest;  // if the image has another size
  bool keep_aspect_ratio = false;                      // first cuts the middle of the image to the ratio of target_size
};
/// The pixels of a PNG or JPEG file, which its first bytes tell apart: uint8 (height, width, channels). libpng16.so.16 (Debian's
/// libpng16-16) and libturbojpeg.so.0 (libturbojpeg0) decode them; each is opened when a file first needs it. io_error that
/// names the file and the reason: it is neither, it is damaged, it has more than 178956970 pixels, or the library is missing.
HALFTONE_API Tensor load_img(const std::string &path, const LoadImgArgs &args = {});

struct ImgToArrayArgs {
  Choice<DataFormat> data_format = DataFormat::channels_last;
  std::optional<DType> dtype{}; // floatx
};
/// An image (height, width, channels) or (height, width) as (height, width, channels) or, of channels_first, (channels, height,
/// width) in this dtype. value_error for another rank.
HALFTONE_API Tensor img_to_array(const Tensor &img, const ImgToArrayArgs &args = {});

struct ArrayToImgArgs {
  Choice<DataFormat> data_format = DataFormat::channels_last; // of x
  bool scale = true; // moves and scales the numbers, so that the least is 0 and the largest 255
};
/// The reverse: uint8 (height, width, channels). Fractions are cut off, and numbers outside of 0 to 255 become the nearer one
/// of both. value_error for another rank than 3 and for channels that are not 1, 3 or 4.
HALFTONE_API Tensor array_to_img(const Tensor &x, const ArrayToImgArgs &args = {});

struct SaveImgArgs {
  Choice<DataFormat> data_format = DataFormat::channels_last;
  std::string file_format{}; // "png", "jpg" or "jpeg"; empty: the end of the path
  bool scale = true;         // as of array_to_img()
};
/// Writes array_to_img(x) as a PNG file, or as JPEG of quality 75 with halved colour axes, which drops opacity. value_error for
/// another format; io_error if the file cannot be written, or libturbojpeg is missing.
HALFTONE_API void save_img(const std::string &path, const Tensor &x, const SaveImgArgs &args = {});

struct ImageDatasetArgs {
  ImageLabels labels = "inferred";
  Choice<LabelMode> label_mode = LabelMode::integer;
  std::vector<std::string>
      class_names{}; // of "inferred": the folders to take, in this order; empty: all in their order
  Choice<ColorMode> color_mode = ColorMode::rgb;
  std::optional<int64_t> batch_size = 32;         // none: single images
  std::array<int64_t, 2> image_size = {256, 256}; // height and width
  bool shuffle = true;                            // else files stay in the order of their names
  std::optional<int64_t> seed{};                  // of the shuffle
  std::optional<double> validation_split{};       // the share of the files that is for validation: the last ones
  Choice<Subset> subset = Subset::none;
  Choice<Interpolation> interpolation = Interpolation::bilinear;
  bool follow_links = false; // into folders to which symbolic links lead
  bool crop_to_aspect_ratio = false;
  bool pad_to_aspect_ratio = false; // with zeros
  Choice<DataFormat> data_format = DataFormat::channels_last;
};
/// The .png, .jpg and .jpeg files in a folder as batches of float32 images with labels. Each folder inside it is a class, in the
/// order of names, with the files below it. The files, their shuffle by a seed and the split are Keras's. HALFTONE_NUM_THREADS
/// threads read one batch ahead; their count does not change the batches. value_error as Keras's, and for a class twice in
/// `class_names`; io_error for a folder that cannot be read, and while iterating for a file as of load_img().
HALFTONE_API ImageDataset image_dataset_from_directory(const std::string &directory, const ImageDatasetArgs &args = {});
/// Those for training and those for validation, of subset "both".
HALFTONE_API std::array<ImageDataset, 2> image_datasets_from_directory(const std::string &directory,
                                                                       const ImageDatasetArgs &args);
} // namespace utils
} // namespace halftone
